// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.knuddels.jtokkit.Encodings;
import io.penstock.error.MalformedStoreException;
import io.penstock.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.Normalizer;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files that Hugging Face's tokenizers wrote, and the ids that they gave, by {@code bench/peers/tokenizer_json.py}.
 * {@code -Dtokenizer.json=DIR} compares others.
 */
class TokenizerJsonTest {

    private static final Path VECTORS = Path.of(System.getProperty("tokenizer.json",
            "tools/src/test/resources/io/penstock/tokenize"));

    @TempDir
    private Path folder;

    private static Tokenizer tokenizer(String name) throws IOException {
        return Tokenizer.of(VECTORS.resolve(name + ".tokenizer.json"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "neox", "llama3", "qwen2", "gpt4o", "mistral"})
    void hasTheIdsOfThePythonLibrary(String name) throws IOException {
        Tokenizer tokenizer = tokenizer(name);
        boolean isNormalized = name.equals("neox") || name.equals("qwen2");
        TokenBuffer ids = new TokenBuffer();
        long texts = 0;
        try (BufferedReader lines = Files.newBufferedReader(VECTORS.resolve(name + ".cases.jsonl"))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                List<Object> one = Json.array(Json.parse(line));
                String text = (String) one.getFirst();
                MemorySegment utf8 = MemorySegment.ofArray(text.getBytes(UTF_8));
                for (SpecialText special : new SpecialText[] {SpecialText.ALLOWED, SpecialText.ORDINARY}) {
                    ids.clear();
                    tokenizer.encode(utf8, special, ids);
                    assertArrayEquals(ids(special == SpecialText.ALLOWED ? one.get(1) : one.getLast()), ids.toArray(),
                            () -> name + ", " + special + ": " + Json.write(text));
                    String decoded = new String(tokenizer.decode(ids.toArray()), UTF_8);
                    assertEquals(isNormalized ? Normalizer.normalize(text, Normalizer.Form.NFC) : text,
                            isNormalized ? Normalizer.normalize(decoded, Normalizer.Form.NFC) : decoded);
                }
                texts++;
            }
        }
        assertTrue(texts >= 100, texts + " texts");
    }

    private static int[] ids(Object list) {
        return Json.array(list).stream().mapToInt(id -> ((Long) id).intValue()).toArray();
    }

    @ParameterizedTest
    @CsvSource({"gpt2, <|endoftext|>", "neox, <|endoftext|>", "llama3, <|end_of_text|>", "qwen2, <|endoftext|>",
        "gpt4o, <|endoftext|>", "mistral, </s>"})
    void hasTheSpecialTokensOfTheFile(String name, String end) throws IOException {
        Tokenizer tokenizer = tokenizer(name);
        assertEquals(tokenizer.specialTokens().get(end), tokenizer.endOfText());
        assertEquals(VECTORS.toAbsolutePath().getFileName() + "/" + name + ".tokenizer.json", tokenizer.name());
        assertArrayEquals(end.getBytes(UTF_8), tokenizer.decode(tokenizer.endOfText()));
        assertFalse(tokenizer.specialTokens().containsKey("<tool_call>"));
    }

    @Test
    void anotherSpecialTokenMayEndADocument() throws IOException {
        Path file = VECTORS.resolve("llama3.tokenizer.json");
        Tokenizer tokenizer = Tokenizer.of(file, "<|eot_id|>");
        assertEquals(tokenizer.specialTokens().get("<|eot_id|>"), tokenizer.endOfText());
        Exception e = assertThrows(IllegalArgumentException.class, () -> Tokenizer.of(file, "<|no|>"));
        assertTrue(e.getMessage().startsWith(file + ": end of text: found '<|no|>', expected one of"), e.getMessage());
    }

    @Test
    void theDigestIsThatOfTheVocabularyWhateverTheName() throws IOException {
        Path copy = Files.copy(VECTORS.resolve("qwen2.tokenizer.json"), folder.resolve("tokenizer.json"));
        assertEquals(tokenizer("qwen2").vocabularySha256(), Tokenizer.of(copy).vocabularySha256());
        String text = Files.readString(copy);
        for (String changed : List.of(text.replace("<|im_end|>", "<|im_fin|>"),
                text.replace("{\"type\":\"NFC\"}", "null"), text.replace("\"ignore_merges\":false",
                "\"ignore_merges\":true"))) {
            assertFalse(changed.equals(text));
            Files.writeString(copy, changed);
            assertFalse(tokenizer("qwen2").vocabularySha256().equals(Tokenizer.of(copy).vocabularySha256()));
        }
        assertFalse(tokenizer("gpt2").vocabularySha256().equals(tokenizer("gpt4o").vocabularySha256()));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "\"type\":\"BPE\" | \"type\":\"WordPiece\" | model: found 'WordPiece', expected BPE",
        "\"dropout\":null | \"dropout\":0.1 | model: dropout: found 0.1, expected none",
        "\"byte_fallback\":false | \"byte_fallback\":true | model: byte_fallback: found true, expected false",
        "\"end_of_word_suffix\":null | \"end_of_word_suffix\":\"</w>\" | model: end_of_word_suffix: found '</w>'",
        "\"type\":\"NFC\" | \"type\":\"Lowercase\" | normalizer: found 'Lowercase', expected none or NFC",
        "\"type\":\"Split\" | \"type\":\"Digits\" | pre_tokenizer: found 'Digits, ByteLevel', expected Split, Byte",
        "\"type\":\"Sequence\" | \"type\":\"Metaspace\" | pre_tokenizer: found 'Metaspace', expected ByteLevel, or a",
        "\"behavior\":\"Isolated\" | \"behavior\":\"Removed\" | pre_tokenizer: Split: found 'Removed'",
        "\\\\p{L}+ | \\\\p{L}* | pre_tokenizer: Split: found '(?i:'s",
        "\"add_prefix_space\":false | \"add_prefix_space\":true | pre_tokenizer: ByteLevel: add_prefix_space: fou",
        "\"lstrip\":false | \"lstrip\":true | added token '<tool_call>': lstrip: found true, expected false",
        "\"<tool_call>\" | \"a b\" | added token 437: found 'a b', expected one without the end of a word within",
        "\"<tool_call>\" | \"e\u0301 b\" | added token 437: found 'e\u0301 b', expected one without the end of a word",
        "\"merges\":[[ | \"merges\":[[\"no\",\"a\"],[ | model: merge 0: found 'no', expected a token of the vocabulary",
        "\"merges\":[[ | \"merges\":[[\"a\"],[ | model: merge 0: found an array, expected two tokens",
        "\"vocab\":{ | \"vocab\":{\"▁the\":999, | model: vocab: found '▁the', expected 1 to 1024 bytes in the spelling",
        "\"vocab\":{ | \"vocab\":{\"qqqq\":5, | token '",
        "\"id\":437 | \"id\":445 | added token '<tool_call>': found id 445, expected 437, which Hugging Face's",
        "\"id\":437 | \"id\":300 | token '",
        "\"vocab\":{ | \"vocab\":{\"<tool_call>\":438, | token '<tool_call>': found id 438 again",
        "\"model\": | \"modell\": | not a tokenizer.json: model: found nothing, expected an object"})
    void refusesByNameWhatIsNotSupported(String text, String replacement, String problem) throws IOException {
        String good = Files.readString(VECTORS.resolve("qwen2.tokenizer.json"));
        String bad = good.replaceFirst(Pattern.quote(text),
                Matcher.quoteReplacement(replacement));
        assertFalse(good.equals(bad), text);
        Path file = Files.writeString(folder.resolve("tokenizer.json"), bad);
        Exception e = assertThrows(MalformedStoreException.class, () -> Tokenizer.of(file));
        assertTrue(e.getMessage().startsWith(file + ": " + problem), e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\"<tool_call>\":437,", "\"<tool_call>\":437,\"<|endoftext|>\":438,",
        "\"<|im_end|>\":440,\"<|im_start|>\":439,\"<|endoftext|>\":438,\"<tool_call>\":437,"})
    void addedTokensMayBeInTheVocabularyToo(String tokens) throws IOException {
        Path file = Files.writeString(folder.resolve("tokenizer.json"), Files.readString(
                VECTORS.resolve("qwen2.tokenizer.json")).replace("\"vocab\":{", "\"vocab\":{" + tokens));
        assertEquals(tokenizer("qwen2").vocabularySha256(), Tokenizer.of(file).vocabularySha256());
    }

    @Test
    void twoAddedTokensOfOneTextAreRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("tokenizer.json"), Files.readString(
                VECTORS.resolve("qwen2.tokenizer.json")).replace("<|im_end|>", "<|im_start|>"));
        Exception e = assertThrows(MalformedStoreException.class, () -> Tokenizer.of(file));
        assertEquals(file + ": added token '<|im_start|>': found it or its id 440 again", e.getMessage());
    }

    @Test
    void specialTokensThatNormalizeToOneTextAreRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("tokenizer.json"), Files.readString(
                VECTORS.resolve("qwen2.tokenizer.json")).replace("<|im_start|>", "<\u00e9>").replace("<|im_end|>",
                "<e\u0301>").replace("\"normalized\":false", "\"normalized\":true"));
        Exception e = assertThrows(IllegalArgumentException.class, () -> Tokenizer.of(file));
        assertEquals(file + ": special tokens: found '<\u00e9>' twice", e.getMessage());
    }

    @Test
    void readsMergesThatAreOneTextEach() throws IOException {
        Map<String, Object> root = Json.object(Json.parse(Files.readAllBytes(
                VECTORS.resolve("gpt2.tokenizer.json"))));
        Map<String, Object> model = Json.object(root.get("model"));
        model.put("merges", Json.array(model.get("merges")).stream().map(merge -> Json.array(merge).getFirst() + " "
                + Json.array(merge).getLast()).toList());
        Path file = Files.writeString(folder.resolve("old.json"), Json.write(root));
        assertEquals(tokenizer("gpt2").vocabularySha256(), Tokenizer.of(file).vocabularySha256());
    }

    @Test
    void aPublishedEncodingTakesItsRanksFromAFile() throws IOException {
        Path file = folder.resolve("ranks.tiktoken");
        try (var in = Encodings.class.getResourceAsStream("/com/knuddels/jtokkit/r50k_base.tiktoken")) {
            Files.copy(in, file);
        }
        Tokenizer tokenizer = Tokenizer.of("gpt2", file);
        assertEquals("gpt2", tokenizer.name());
        assertEquals(Corpora.tokenizer("gpt2").vocabularySha256(), tokenizer.vocabularySha256());
        assertThrows(IllegalArgumentException.class, () -> Tokenizer.of("gpt5", file));
    }
}
