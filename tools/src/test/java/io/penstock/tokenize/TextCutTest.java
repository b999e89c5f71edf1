// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.knuddels.jtokkit.Encodings;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextCutTest {

    /** Made of what the split expressions look at: cases, marks, digits, apostrophes, slashes, every white space. */
    private static final String[] ATOMS = {
        "a", "b", "the", "S", "LL", "Don", "'s", "'ll", "'", "’", "é", "e\u0301", "\u0301", "ß", "Я", "жук", "你", "好",
        "の", "한", "ا", "न", "\u0940", "ǅ", "ʰ", "1", "23", "4567", "Ⅷ", "½", " ", "  ", "   ", "\t", "\n", "\n\n",
        "\r\n", "\r", "\u00a0", "\u3000", "\u2003", "\u0085", "\u2028", "\u000b", ",", ".", "，", "。", "、", "!", "?!",
        "/", "//",
        "-", "_", "(", "\"", "😀", "👩\u200d🚀", "\ufeff", "\u200b", "\u0000", "<|endoftext|>"};

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base"})
    void everyCutOfARandomTextLeavesItsTokens(String encoding) {
        long seed = 20_260_101;
        Random random = new Random(seed);
        Tokenizer tokenizer = Corpora.tokenizer(encoding);
        int cuts = 0;
        for (int text = 0; text < 8000; text++) {
            StringBuilder builder = new StringBuilder();
            for (int i = 1 + random.nextInt(24); i > 0; i--) {
                builder.append(ATOMS[random.nextInt(ATOMS.length)]);
            }
            byte[] utf8 = builder.toString().getBytes(UTF_8);
            int[] whole = tokenizer.encode(builder.toString());
            for (int end = TextCut.last(utf8, 1, utf8.length); end > 0; end = TextCut.last(utf8, 1, end)) {
                int at = end;
                assertArrayEquals(whole, parts(tokenizer, utf8, at),
                        () -> "seed " + seed + ", cut at byte " + at + " of " + escaped(builder));
                cuts++;
            }
        }
        assertTrue(cuts > 5000, "only " + cuts + " cuts");
    }

    @ParameterizedTest
    @EnumSource(TextSplit.class)
    void everyCutOfATextThatIsNormalizedLeavesItsTokens(TextSplit split) throws IOException {
        String[] words = {"\u0958", "ab\u095C", "\u09DF", "\uFB2E", "\u212B", "e\u0301", "\u1112\u1161\u11AB", "com",
            ".", ",", "\n", "\u3002", " ", "\u093C", "'s"};
        Vocabulary vocabulary;
        try (InputStream in = Encodings.class.getResourceAsStream("/com/knuddels/jtokkit/cl100k_base.tiktoken")) {
            vocabulary = Vocabulary.read(in, "cl100k_base");
        }
        AddedTokens end = new AddedTokens(List.of(AddedTokens.Token.of("<end>", 100_257, true)));
        Tokenizer tokenizer = new BytePairTokenizer("normalizing", vocabulary,
                new BytePairTokenizer.Rules(end, true, new AddedTokens(List.of()), split), "<end>");
        Random random = new Random(7);
        int cuts = 0;
        for (int text = 0; text < 3000; text++) {
            StringBuilder builder = new StringBuilder();
            for (int i = 1 + random.nextInt(8); i > 0; i--) {
                builder.append(words[random.nextInt(words.length)]);
            }
            byte[] utf8 = builder.toString().getBytes(UTF_8);
            int[] whole = tokenizer.encode(builder.toString());
            for (int at = TextCut.last(utf8, 1, utf8.length); at > 0; at = TextCut.last(utf8, 1, at)) {
                int cut = at;
                assertArrayEquals(whole, parts(tokenizer, utf8, at),
                        () -> "cut at byte " + cut + " of " + escaped(builder));
                cuts++;
            }
        }
        assertTrue(cuts > 500, "only " + cuts + " cuts");
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "p50k_base", "cl100k_base", "o200k_base"})
    void theFixturesInSmallPartsHaveTheTokensOfTheWhole(String encoding) throws IOException {
        Tokenizer tokenizer = Corpora.tokenizer(encoding);
        for (Map<String, Object> entry : Corpora.entries("text", "read")) {
            byte[] utf8 = Files.readAllBytes(Corpora.file((String) entry.get("path")));
            int[] whole = tokenizer.encode(new String(utf8, UTF_8));
            IntStream.Builder parts = IntStream.builder();
            int end = 0;
            for (int start = 0; start < utf8.length; start = end) {
                int cut = start + 100 < utf8.length ? TextCut.last(utf8, start + 1, start + 100) : -1;
                end = cut < 0 ? utf8.length : cut;
                IntStream.of(tokenizer.encode(new String(utf8, start, end - start, UTF_8))).forEach(parts);
            }
            assertArrayEquals(whole, parts.build().toArray(), () -> "tokens of " + entry.get("id"));
        }
    }

    @ParameterizedTest
    @CsvSource({"'one two', 3", "'one  two', 3", "'one\r\ntwo', 3", "'it''s so', 4", "'café au', 5", "'жук и', 6",
        "'你好，吗', 6", "'你好。吗', 6", "'one', -1", "'one''s', -1", "'12 34', -1", "'?! ?!', -1", "'one-two', -1",
        "'e\u0301 x', -1", "'\u0958, x', -1", "'\u00e9, x', 2",
        "'\u2014 \u2014', -1", "'\u0940 ', -1", "'a b c', 3", "'x.', 1", "' x', -1"})
    void cutsAfterALetterBeforeWhiteSpaceCommaOrFullStop(String text, int expected) {
        byte[] utf8 = text.getBytes(UTF_8);
        assertEquals(expected, TextCut.last(utf8, 1, utf8.length));
    }

    @Test
    void leavesAloneACharacterThatIsNotWhole() {
        byte[] utf8 = "你，".getBytes(UTF_8);
        assertEquals(3, TextCut.last(utf8, 1, 6));
        for (int length = 0; length < 6; length++) {
            assertEquals(-1, TextCut.last(utf8, 1, length));
        }
        byte[] malformed = {
            (byte) 0xA4, ' ', (byte) 0xE4, (byte) 0xBD, ' ', (byte) 0xFF, ' ', (byte) 0xFF, (byte) 0xBF, ' '};
        assertEquals(-1, TextCut.last(malformed, 1, malformed.length));
    }

    private static int[] parts(Tokenizer tokenizer, byte[] utf8, int cut) {
        int[] first = tokenizer.encode(new String(utf8, 0, cut, UTF_8));
        int[] second = tokenizer.encode(new String(utf8, cut, utf8.length - cut, UTF_8));
        int[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private static String escaped(CharSequence text) {
        StringBuilder escaped = new StringBuilder();
        text.chars().forEach(c -> escaped.append(c >= ' ' && c < 127 ? (char) c : String.format("\\u%04x", c)));
        return escaped.toString();
    }
}
