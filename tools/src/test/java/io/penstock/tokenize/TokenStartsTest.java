// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Where tokens begin, against the offsets of Hugging Face's tokenizers; {@code bench/peers/tokenizer_json.py}. */
class TokenStartsTest {

    private static final Path FOLDER = Path.of("tools/src/test/resources/io/penstock/tokenize");
    private static final int[] NOWHERE = {};

    private static Tokenizer tokenizer(String name) throws IOException {
        return Tokenizer.of(FOLDER.resolve(name + ".tokenizer.json"));
    }

    private static int[] numbers(Object list) {
        return Json.array(list).stream().mapToInt(id -> ((Long) id).intValue()).toArray();
    }

    /** The byte at which each character (code point) of a text begins, and its end. */
    private static int[] placesOf(String text) {
        int[] places = new int[text.codePointCount(0, text.length()) + 1];
        int at = 0;
        for (int character = 0; character < places.length - 1; character++) {
            String one = Character.toString(text.codePointAt(text.offsetByCodePoints(0, character)));
            places[character + 1] = at += one.getBytes(UTF_8).length;
        }
        return places;
    }

    @Test
    void areThoseOfThePythonLibrary() throws IOException {
        Map<String, Tokenizer> tokenizers = new HashMap<>();
        List<String> lines = Files.readAllLines(FOLDER.resolve("offsets.jsonl"));
        for (String line : lines) {
            List<Object> one = Json.array(Json.parse(line));
            String name = (String) one.get(0);
            String text = (String) one.get(1);
            if (!tokenizers.containsKey(name)) {
                tokenizers.put(name, tokenizer(name));
            }
            TokenBuffer ids = new TokenBuffer();
            int[] places = placesOf(text);
            int[] counts = tokenizers.get(name).encode(text.getBytes(UTF_8), NOWHERE, places, ids);
            assertArrayEquals(numbers(one.get(2)), ids.toArray(), line);
            int[] starts = numbers(one.get(3));
            for (int character = 0; character < places.length; character++) {
                int limit = character;
                // A token may begin within a character: before the place behind it, and not before its own.
                assertEquals(Arrays.stream(starts).filter(start -> start < limit).count(), counts[character], line);
            }
        }
        assertTrue(lines.size() >= 100, lines.size() + " texts");
    }

    @Test
    void aSpecialTokenThatBeginsInAPlainPartIsText() throws IOException {
        Tokenizer qwen = tokenizer("qwen2");
        byte[] text = "<|im_start|>a<|im_end|>b<|im_end|><tool_call>".getBytes(UTF_8);
        TokenBuffer ids = new TokenBuffer();
        assertArrayEquals(new int[] {0, 1, 1},
                qwen.encode(text, new int[] {12, 24}, new int[] {0, 1, 12}, ids));
        int end = qwen.specialTokens().get("<|im_end|>");
        assertEquals(1, Arrays.stream(ids.toArray()).filter(id -> id == end).count());
        assertEquals(new String(text, UTF_8), new String(qwen.decode(ids.toArray()), UTF_8));
        assertEquals("<tool_call>", new String(qwen.decode(ids.get(ids.size() - 1)), UTF_8),
                "an added token that is not special is one in every text");
    }

    @Test
    void aTextThatIsNotUtf8IsRefused() throws IOException {
        Tokenizer gpt2 = tokenizer("gpt2");
        assertEquals("text: found bytes that are not UTF-8 at byte 1", assertThrows(IllegalArgumentException.class,
                () -> gpt2.encode(new byte[] {'a', (byte) 0xC3}, NOWHERE, NOWHERE, new TokenBuffer()))
                        .getMessage());
    }
}
