// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import java.io.IOException;
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
