// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import io.penstock.memory.DType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TokenizerTest {

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "p50k_base", "cl100k_base", "o200k_base"})
    void encodesEveryTextAsTiktokenDoes(String encoding) throws IOException {
        Tokenizer tokenizer = Corpora.tokenizer(encoding);
        for (Map<String, Object> entry : Corpora.entries("text", "read")) {
            Map<String, Object> truth = Json.object(Json.object(entry.get("tokens")).get(encoding));
            int[] tokens = tokenizer.encode(Files.readString(Corpora.file((String) entry.get("path"))));
            assertEquals(truth.get("count"), (long) tokens.length, () -> "count of " + entry.get("id"));
            if (truth.containsKey("sha256_u32le")) {
                assertEquals(truth.get("sha256_u32le"), Corpora.sha256U32(IntStream.of(tokens)),
                        () -> "tokens of " + entry.get("id"));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"gpt2, 50257, 50256", "r50k_base, 50257, 50256", "p50k_base, 50281, 50256", "p50k_edit, 50284, 50256",
        "cl100k_base, 100277, 100257", "o200k_base, 200019, 199999"})
    void hasThePublishedVocabularySizeAndEndOfText(String encoding, int vocabularySize, int endOfText) {
        Tokenizer tokenizer = Corpora.tokenizer(encoding);
        assertEquals(encoding, tokenizer.name());
        assertEquals(vocabularySize, tokenizer.vocabularySize());
        assertEquals(endOfText, tokenizer.endOfText());
    }

    @Test
    void takesSpecialTokensInTextForPlainText() {
        int[] tokens = Corpora.tokenizer("gpt2").encode("<|endoftext|>");
        assertArrayEquals(new int[] {27, 91, 437, 1659, 5239, 91, 29}, tokens);
    }

    @Test
    void namesTheEncodingsWhenOneIsUnknown() {
        Exception e = assertThrows(IllegalArgumentException.class, () -> Tokenizer.of("gpt5"));
        assertEquals("unknown encoding 'gpt5', expected one of gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base,"
                + " o200k_base", e.getMessage());
        assertEquals(List.of("gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base"),
                Tokenizer.encodings());
    }

    @Test
    void idsAreCopiedAsAStoreHasThem() {
        TokenBuffer ids = new TokenBuffer();
        List.of(1, 0x203, 0x12345).forEach(ids::append);
        for (DType dtype : List.of(DType.U8, DType.U16, DType.I32)) {
            byte[] copied = new byte[3 * dtype.byteSize()];
            ids.copyTo(MemorySegment.ofArray(copied), dtype);
            byte[] expected = switch (dtype.byteSize()) {
                case 1 -> new byte[] {1, 3, 0x45};
                case 2 -> new byte[] {1, 0, 3, 2, 0x45, 0x23};
                default -> new byte[] {1, 0, 0, 0, 3, 2, 0, 0, 0x45, 0x23, 1, 0};
            };
            assertArrayEquals(expected, copied);
        }
        assertThrows(IndexOutOfBoundsException.class, () -> ids.copyTo(MemorySegment.ofArray(new byte[5]), DType.U16));
        assertThrows(IllegalArgumentException.class, () -> ids.copyTo(MemorySegment.ofArray(new byte[50]), DType.I64));
    }

    @Test
    void theTablesOfTheLargestVocabularyAndOfAThreadAreSmall() throws IllegalAccessException {
        PieceEncoder encoder = ((BytePairTokenizer) Tokenizer.of("o200k_base")).take();
        long bytes = arrayBytes(encoder);
        for (Field field : PieceEncoder.class.getDeclaredFields()) {
            if (field.getType() == Vocabulary.class) {
                field.setAccessible(true);
                bytes += arrayBytes(field.get(encoder));
            }
        }
        long all = bytes + Character.MAX_CODE_POINT + 1;                       // and the classes of characters
        assertTrue(all > 20 << 20 && all < 50 << 20, () -> "found " + all + " bytes");
    }

    /** The bytes of an object's arrays of numbers. */
    private static long arrayBytes(Object object) throws IllegalAccessException {
        long bytes = 0;
        for (Field field : object.getClass().getDeclaredFields()) {
            field.setAccessible(true);
            bytes += switch (field.get(object)) {
                case byte[] array -> array.length;
                case int[] array -> (long) Integer.BYTES * array.length;
                case long[] array -> (long) Long.BYTES * array.length;
                case null, default -> 0;
            };
        }
        return bytes;
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"a", " ", "\n", "!", "7", "你", "aB"})
    void encodesAMillionCharactersWithoutAWordsEnd(String unit) {
        String text = unit.repeat(1_000_000 / unit.length());
        for (String encoding : List.of("gpt2", "cl100k_base", "o200k_base")) {
            assertTrue(Corpora.tokenizer(encoding).encode(text).length > 1000);
        }
    }
}
