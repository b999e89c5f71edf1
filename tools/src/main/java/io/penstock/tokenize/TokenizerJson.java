// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.local.RegularFile;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.json.JsonFields;
import java.io.IOException;
import java.nio.file.Path;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the {@code tokenizer.json} of Hugging Face's tokenizers, if it is a byte-level byte-pair encoding whose text is
 * split by an expression that is known here. Everything else is refused by name. The post processor is ignored, for it
 * adds tokens only where that is asked for; truncation and padding are, because a text is encoded whole.
 *
 * <p>The file is what {@code Tokenizer.save} of the Python package {@code tokenizers} writes.
 */
final class TokenizerJson {

    private static final String WHAT = "a tokenizer.json";

    /** The tokens that end a text in published tokenizers, where the file does not say. */
    private static final List<String> END_OF_TEXT = List.of("<|endoftext|>", "<|end_of_text|>", "</s>");

    private static final String CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
    private static final String SPACES = "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    private static final String MANY = "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
            + "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+";
    private static final String ONE = "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
            + "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*";

    /** The expressions of published tokenizers, as they are spelled there. */
    private static final Map<String, TextSplit> SPLITS = Map.of(
            "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", TextSplit.GPT2,
            // Llama 3, OLMo 2
            CONTRACTION + "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" + SPACES,
            TextSplit.CL100K,
            // as tiktoken has it
            "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|"
                    + "\\s*[\\r\\n]|\\s+(?!\\S)|\\s+", TextSplit.CL100K,
            // Qwen 2 and 3
            CONTRACTION + "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" + SPACES,
            TextSplit.QWEN2,
            // GPT-4o
            MANY + CONTRACTION + "?|" + ONE + CONTRACTION + "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" + SPACES,
            TextSplit.O200K,
            // Mistral
            MANY + "|" + ONE + "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" + SPACES, TextSplit.TEKKEN);

    /** The byte that each character of a token stands for, from U+0000 on; -1 for none. */
    private static final int[] BYTES = bytes();

    private final Path file;
    /** The ids of the model's tokens, by their texts. */
    private final Map<String, Integer> ids = new LinkedHashMap<>();
    /** The texts of the added tokens, by their ids, in the order of the file. */
    private final Map<Integer, String> added = new LinkedHashMap<>();
    private byte[] @Nullable [] byId = new byte[0][];

    private TokenizerJson(Path file) {
        this.file = file;
    }

    /**
     * Reads a file.
     *
     * @param endOfText the special token that ends a text; null for the usual one
     * @throws IOException if the file cannot be read, is malformed, or has something that is not supported; names it
     * @throws IllegalArgumentException if there is no such special token
     */
    static BytePairTokenizer read(Path file, @Nullable String endOfText) throws IOException {
        byte[] content = RegularFile.readAllBytes(file);
        try {
            return new TokenizerJson(file).tokenizer(JsonFields.parse(content, WHAT), endOfText);
        } catch (JsonException e) {
            throw new MalformedStoreException(file.toString(), String.valueOf(e.getMessage()));
        }
    }

    /**
     * GPT-2's spelling of bytes: printable ones are themselves, the others are the characters from U+0100 on
     * ({@code bytes_to_unicode} in {@code openai/gpt-2}, {@code src/encoder.py}).
     */
    private static int[] bytes() {
        int[] bytes = new int[0x200];
        Arrays.fill(bytes, -1);
        int next = 0x100;
        for (int value = 0; value < 256; value++) {
            boolean isItself = value >= '!' && value <= '~' || value >= 0xA1 && value <= 0xAC || value >= 0xAE;
            bytes[isItself ? value : next++] = value;
        }
        return bytes;
    }

    private BytePairTokenizer tokenizer(JsonFields root, @Nullable String endOfText) throws IOException {
        boolean isNormalized = normalizes(root.objectIfThere("normalizer"));
        TextSplit split = split(root.object("pre_tokenizer"));
        JsonFields model = root.object("model");
        requireByteLevel(model);
        JsonFields vocab = model.object("vocab");
        vocab.names().forEach(text -> ids.put(text, (int) vocab.whole(text, 0, Vocabulary.MAX_ID)));
        List<AddedTokens.Token> first = new ArrayList<>();
        List<AddedTokens.Token> later = new ArrayList<>();
        readAdded(root, isNormalized, first, later);
        readTokens();
        checkAdded();
        Vocabulary.Merges merges = merges(model);
        Vocabulary vocabulary = Vocabulary.of(byId, merges, file.toString());
        Path folder = file.toAbsolutePath().getParent();
        String name = (folder == null || folder.getFileName() == null ? "" : folder.getFileName() + "/")
                + file.getFileName();
        try {
            return new BytePairTokenizer(name, vocabulary, new BytePairTokenizer.Rules(new AddedTokens(first),
                    isNormalized, new AddedTokens(later), split),
                    endOfText == null ? usualEnd(first, later) : endOfText);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
    }

    private static String usualEnd(List<AddedTokens.Token> first, List<AddedTokens.Token> later) {
        for (String text : END_OF_TEXT) {
            for (List<AddedTokens.Token> tokens : List.of(first, later)) {
                if (tokens.stream().anyMatch(token -> token.isSpecial() && token.text().equals(text))) {
                    return text;
                }
            }
        }
        return END_OF_TEXT.getFirst();
    }

    private MalformedStoreException unsupported(String what, @Nullable Object found, String expected) {
        return invalid(what + ": found " + Json.shown(found) + ", expected " + expected
                + " (nothing else is supported)");
    }

    private MalformedStoreException invalid(String problem) {
        return new MalformedStoreException(file.toString(), problem);
    }

    private boolean normalizes(@Nullable JsonFields normalizer) throws IOException {
        if (normalizer == null) {
            return false;
        }
        String type = normalizer.text("type");
        if (type.equals("NFC")) {
            return true;
        }
        if (type.equals("Sequence")) {
            boolean any = false;
            for (JsonFields each : normalizer.objects("normalizers")) {
                any |= normalizes(each);
            }
            return any;
        }
        throw unsupported("normalizer", type, "none or NFC");
    }

    private TextSplit split(JsonFields preTokenizer) throws IOException {
        String type = preTokenizer.text("type");
        if (type.equals("ByteLevel")) {
            requireTruth(preTokenizer, "add_prefix_space", false);
            requireTruth(preTokenizer, "use_regex", true);
            return TextSplit.GPT2;
        }
        if (!type.equals("Sequence")) {
            throw unsupported("pre_tokenizer", type, "ByteLevel, or a sequence of Split and ByteLevel");
        }
        List<JsonFields> steps = preTokenizer.objects("pretokenizers");
        List<String> types = steps.stream().map(step -> step.text("type")).toList();
        if (!types.equals(List.of("Split", "ByteLevel"))) {
            throw unsupported("pre_tokenizer", String.join(", ", types), "Split, ByteLevel");
        }
        JsonFields byteLevel = steps.get(1);
        requireTruth(byteLevel, "add_prefix_space", false);
        requireTruth(byteLevel, "use_regex", false);
        JsonFields step = steps.getFirst();
        String behavior = step.text("behavior");
        boolean isInverted = step.truth("invert");
        // Both mean the same here: the expressions match everything, so nothing is outside their matches.
        if (!(behavior.equals("Isolated") && !isInverted || behavior.equals("Removed") && isInverted)) {
            throw unsupported("pre_tokenizer: Split", behavior + (isInverted ? ", inverted" : ""), "Isolated");
        }
        JsonFields pattern = step.object("pattern");
        String expression = pattern.textIfThere("Regex");
        TextSplit split = expression == null ? null : SPLITS.get(expression);
        if (split == null) {
            throw unsupported("pre_tokenizer: Split", expression == null ? "a fixed text" : expression,
                    "the expression of GPT-2, GPT-4, GPT-4o, Llama 3, Qwen 2 or Mistral");
        }
        return split;
    }

    /** Requires a boolean's value; a missing one counts as true. */
    private void requireTruth(JsonFields fields, String key, boolean expected) throws IOException {
        Object found = fields.has(key) ? fields.truth(key) : Boolean.TRUE;
        if (!found.equals(expected)) {
            throw unsupported("pre_tokenizer: ByteLevel: " + key, found, Boolean.toString(expected));
        }
    }

    private void requireByteLevel(JsonFields model) throws IOException {
        String type = model.text("type");
        if (!type.equals("BPE")) {
            throw unsupported("model", type, "BPE");
        }
        Object dropout = model.takeIfThere("dropout");
        if (dropout != null && !dropout.equals(0.0)) {
            throw unsupported("model: dropout", dropout, "none");
        }
        for (String affix : List.of("continuing_subword_prefix", "end_of_word_suffix")) {
            String text = model.textIfThere(affix);
            if (text != null && !text.isEmpty()) {
                throw unsupported("model: " + affix, text, "none");
            }
        }
        if (model.has("byte_fallback") && model.truth("byte_fallback")) {
            throw unsupported("model: byte_fallback", true, "false");
        }
    }

    private void readAdded(JsonFields root, boolean isNormalized, List<AddedTokens.Token> first,
            List<AddedTokens.Token> later) throws IOException {
        if (!root.has("added_tokens")) {
            return;
        }
        Set<String> texts = new HashSet<>();
        for (JsonFields token : root.objects("added_tokens")) {
            String text = token.text("content");
            int id = (int) token.whole("id", 0, Vocabulary.MAX_ID);
            if (!texts.add(text) || added.put(id, text) != null) {
                throw invalid("added token " + Json.shown(text) + ": found it or its id " + id + " again");
            }
            for (String flag : List.of("single_word", "lstrip", "rstrip")) {
                if (token.has(flag) && token.truth(flag)) {
                    throw unsupported("added token '" + text + "': " + flag, true, "false");
                }
            }
            boolean isSpecial = token.has("special") && token.truth("special");
            boolean isLater = token.has("normalized") && token.truth("normalized");
            if (text.isEmpty()) {
                throw unsupported("added token " + id, text, "a text");
            }
            AddedTokens.Token found = AddedTokens.Token.of(isLater && isNormalized
                    ? Normalizer.normalize(text, Normalizer.Form.NFC) : text, id, isSpecial);
            byte[] utf8 = found.utf8();
            if (!isSpecial && TextCut.last(utf8, 1, utf8.length) >= 0) {
                throw unsupported("added token " + id, text, "one without the end of a word within, or a special one");
            }
            (isLater ? later : first).add(found);
        }
    }

    /** Makes the tokens, but for the added ones, which are in the vocabulary of some files too. */
    private void readTokens() throws IOException {
        byId = new byte[ids.size()][];
        for (Map.Entry<String, Integer> entry : ids.entrySet()) {
            String text = entry.getKey();
            int id = entry.getValue();
            byId = id < byId.length ? byId : Arrays.copyOf(byId, Math.max(id + 1, 2 * byId.length));
            if (byId[id] != null || !added.getOrDefault(id, text).equals(text)) {
                throw invalid("token " + Json.shown(text) + ": found id " + id + " again");
            }
            byId[id] = added.containsKey(id) ? null : token(text);
        }
    }

    /**
     * Refuses ids that are not those of the library, which ignores what the file says of an added token's id: it is
     * that of the vocabulary, otherwise the next one. Some versions count from the last added token, others do not
     * count those of the vocabulary.
     */
    private void checkAdded() throws IOException {
        int next = ids.size();
        int behindLast = next;
        for (Map.Entry<Integer, String> token : added.entrySet()) {
            int id = token.getKey();
            Integer known = ids.get(token.getValue());
            if (known != null ? id != known : id != next && id != behindLast) {
                throw invalid("added token " + Json.shown(token.getValue()) + ": found id " + id + ", expected "
                        + (known != null ? known : next)
                        + ", which Hugging Face's tokenizers give it whatever the file says");
            }
            next += known == null ? 1 : 0;
            behindLast = Math.max(behindLast, id + 1);
        }
    }

    private byte[] token(String text) {
        byte[] bytes = new byte[text.length()];
        boolean isByteLevel = bytes.length > 0 && bytes.length <= Vocabulary.MAX_TOKEN_BYTES;
        for (int i = 0; i < bytes.length && isByteLevel; i++) {
            char character = text.charAt(i);
            isByteLevel = character < BYTES.length && BYTES[character] >= 0;
            bytes[i] = isByteLevel ? (byte) BYTES[character] : 0;
        }
        if (!isByteLevel) {
            throw unsupported("model: vocab", text, "1 to " + Vocabulary.MAX_TOKEN_BYTES
                    + " bytes in the spelling of GPT-2");
        }
        return bytes;
    }

    private Vocabulary.Merges merges(JsonFields model) throws IOException {
        List<@Nullable Object> list = model.array("merges");
        if (list.size() > Vocabulary.MAX_ID) {
            throw unsupported("model: merges", list.size(), "at most " + Vocabulary.MAX_ID);
        }
        int[] left = new int[list.size()];
        int[] right = new int[list.size()];
        int[] made = new int[list.size()];
        for (int rank = 0; rank < left.length; rank++) {
            String[] two = pair(list.get(rank));
            if (two.length != 2) {
                throw unsupported("model: merge " + rank, list.get(rank), "two tokens");
            }
            left[rank] = id(two[0], rank);
            right[rank] = id(two[1], rank);
            made[rank] = id(two[0] + two[1], rank);
        }
        boolean wholePieces = model.has("ignore_merges") && model.truth("ignore_merges");
        return new Vocabulary.Merges(left, right, made, wholePieces);
    }

    /** Older files have both tokens of a merge in one string. */
    private static String[] pair(@Nullable Object merge) {
        return switch (merge) {
            case String text -> text.split(" ", -1);
            case List<?> list when list.stream().allMatch(String.class::isInstance) -> list.toArray(String[]::new);
            case null, default -> new String[0];
        };
    }

    private int id(String token, int rank) throws IOException {
        Integer id = ids.get(token);
        if (id == null) {
            throw invalid("model: merge " + rank + ": found " + Json.shown(token)
                    + ", expected a token of the vocabulary");
        }
        return id;
    }
}
