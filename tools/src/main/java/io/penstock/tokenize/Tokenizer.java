// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.io.local.RegularFile;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Encodes text as token ids, and decodes them. Thread-safe. */
public sealed interface Tokenizer permits BytePairTokenizer {

    /**
     * {@return the tokenizer of a published encoding} Reads the vocabulary, which takes a moment: keep the tokenizer.
     *
     * @param encoding one of {@link #encodings}
     * @throws IllegalArgumentException if no encoding has that name
     * @throws UnsupportedOperationException if the jtokkit library, which has the vocabularies, is not on the class
     *     path
     */
    static Tokenizer of(String encoding) {
        return PublishedEncoding.of(encoding).tokenizer();
    }

    /**
     * {@return a tokenizer whose vocabulary is a file in tiktoken's format} Each line has a token in base 64, a space
     * and its rank, which is its id.
     *
     * @param ranks the file; its name is the tokenizer's
     * @param split how the text is split before it is encoded
     * @param specialTokens the special tokens and their ids
     * @param endOfText the special token that ends a document
     * @throws IOException if the file cannot be read, is invalid, or has no token for some byte
     * @throws IllegalArgumentException if a special token has the id of another token, or none of them ends a document
     */
    static Tokenizer of(Path ranks, TextSplit split, Map<String, Integer> specialTokens, String endOfText)
            throws IOException {
        try (InputStream in = RegularFile.newInputStream(ranks)) {
            return BytePairTokenizer.of(String.valueOf(ranks.getFileName()), Vocabulary.read(in, ranks.toString()),
                    split, specialTokens, endOfText);
        }
    }

    /**
     * {@return the tokenizer of a published encoding, its vocabulary read from a file in tiktoken's format} It needs no
     * library.
     *
     * @param encoding one of {@link #encodings}
     * @param ranks the file
     * @throws IOException if the file cannot be read, is invalid, or has no token for some byte
     * @throws IllegalArgumentException if no encoding has that name, or a token has the id of a special one
     */
    static Tokenizer of(String encoding, Path ranks) throws IOException {
        PublishedEncoding published = PublishedEncoding.of(encoding);
        try (InputStream in = RegularFile.newInputStream(ranks)) {
            return published.tokenizer(in, ranks.toString());
        }
    }

    /**
     * {@return the tokenizer of a {@code tokenizer.json}, as Hugging Face's models have it} Supports byte-level
     * byte-pair encodings, such as those of Llama 3, Qwen 2 and 3, Mistral's newer models, GPT-NeoX and OLMo. Any other
     * file is refused, with the part that is not supported. No tokens are added around a text, and none is cut off or
     * padded: the ids are those of {@code encode(text, add_special_tokens=False)} after {@code no_truncation()} and
     * {@code no_padding()}.
     *
     * @param tokenizerJson the file; its folder and name are the tokenizer's name
     * @throws IOException if the file cannot be read, is malformed, or has something that is not supported
     * @throws IllegalArgumentException if it has none of the special tokens {@code <|endoftext|>}, {@code
     *     <|end_of_text|>} and {@code </s>}, one of which is to end a document
     */
    static Tokenizer of(Path tokenizerJson) throws IOException {
        return TokenizerJson.read(tokenizerJson, null);
    }

    /**
     * {@return the tokenizer of a {@code tokenizer.json}, as {@link #of(Path)} does}
     *
     * @param tokenizerJson the file
     * @param endOfText the special token that ends a document
     * @throws IOException if the file cannot be read, is malformed, or has something that is not supported
     * @throws IllegalArgumentException if there is no such special token
     */
    static Tokenizer of(Path tokenizerJson, String endOfText) throws IOException {
        return TokenizerJson.read(tokenizerJson, endOfText);
    }

    /** {@return the names that {@link #of(String)} accepts, for example {@code gpt2}} */
    static List<String> encodings() {
        return PublishedEncoding.names();
    }

    /** {@return the encoding's name, as given to {@link #of(String)}, or that of the vocabulary's file} */
    String name();

    /**
     * {@return one more than the largest token id, special tokens included: the rows of a model's embedding, and the
     * basis of a store's dtype}
     */
    int vocabularySize();

    /**
     * {@return a digest of the vocabulary, 64 hexadecimal digits} Tokenizers with the same digest give every text the
     * same ids, whatever their names. The first call computes it.
     */
    String vocabularySha256();

    /** {@return the id of the token that ends a document} */
    int endOfText();

    /** {@return the special tokens and their ids} */
    Map<String, Integer> specialTokens();

    /**
     * Encodes a text. Special tokens in it are treated as plain text.
     *
     * @param text the text; an unpaired surrogate in it counts as a question mark
     * @return its token ids
     */
    int[] encode(String text);

    /**
     * Encodes a text in UTF-8, and appends its token ids to a buffer. It makes no object for a word or a token, so a
     * caller that reuses buffer and text makes little garbage. A text in native memory is copied to the heap first.
     *
     * @param utf8 the text, less than 2 GiB; bytes that are not UTF-8 are replaced by U+FFFD, as Python's {@code
     *     bytes.decode(errors="replace")} does: a surrogate's three bytes by three
     * @param special what to make of special tokens in the text
     * @param ids receives the token ids after those that it has
     * @throws IllegalArgumentException if the text is too long, or contains a special token and that is forbidden;
     *     {@code ids} is then unchanged
     */
    void encode(MemorySegment utf8, SpecialText special, TokenBuffer ids);

    /**
     * Encodes a text in UTF-8 with its special tokens, and counts the tokens before places of the text: so a span of
     * the text becomes a range of tokens.
     *
     * @param utf8 the text, well-formed
     * @param plain pairs of bytes, ascending: a special token that begins at or behind the first and before the second
     *     of a pair is plain text, as it is in what a user wrote
     * @param places bytes of the text, ascending
     * @param ids receives the token ids after those that it has
     * @return for each place, the number of the text's tokens that begin before it; in a text that is normalized first,
     *     a token begins at the characters that became it
     * @throws IllegalArgumentException if the text is not well-formed
     */
    int[] encode(byte[] utf8, int[] plain, int[] places, TokenBuffer ids);

    /**
     * Decodes token ids.
     *
     * @param ids the ids, which may include those of special tokens
     * @return the bytes of the encoded text; those of only a part of its ids may not be UTF-8
     * @throws IllegalArgumentException if no token has an id
     */
    byte[] decode(int... ids);
}
