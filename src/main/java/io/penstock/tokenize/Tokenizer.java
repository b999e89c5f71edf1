package io.penstock.tokenize;

import java.util.List;

/** Encodes text as token ids. Thread-safe. */
public interface Tokenizer {

    /**
     * The tokenizer of a published encoding. The first call reads the vocabulary, which takes a moment.
     *
     * @param encoding one of {@link #encodings}
     * @return the tokenizer
     * @throws IllegalArgumentException if no encoding has that name
     * @throws UnsupportedOperationException if the jtokkit library is not on the class path
     */
    static Tokenizer of(String encoding) {
        PublishedEncoding published = PublishedEncoding.of(encoding);
        try {
            return new BytePairTokenizer(published);
        } catch (NoClassDefFoundError e) {
            throw new UnsupportedOperationException(
                    "tokenizing needs the library com.knuddels:jtokkit on the class path", e);
        }
    }

    /**
     * The names that {@link #of} accepts.
     *
     * @return for example {@code gpt2}
     */
    static List<String> encodings() {
        return PublishedEncoding.names();
    }

    /**
     * The encoding's name.
     *
     * @return the name given to {@link #of}
     */
    String name();

    /**
     * One more than the largest token id, special tokens included: the rows of a model's embedding, and the basis of a
     * store's dtype.
     *
     * @return the size
     */
    int vocabularySize();

    /**
     * The id of the token that ends a document.
     *
     * @return the id
     */
    int endOfText();

    /**
     * Encodes a text. Special tokens in it are treated as plain text.
     *
     * @param text the text; an unpaired surrogate in it counts as a question mark
     * @return its token ids
     */
    int[] encode(String text);
}
