package io.penstock.tokenize;

import java.util.List;

/** Encodes text as token ids. Thread-safe. */
public interface Tokenizer {

    /**
     * {@return the tokenizer of a published encoding} The first call reads the vocabulary, which takes a moment.
     *
     * @param encoding one of {@link #encodings}
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

    /** {@return the names that {@link #of} accepts, for example {@code gpt2}} */
    static List<String> encodings() {
        return PublishedEncoding.names();
    }

    /** {@return the encoding's name, as given to {@link #of}} */
    String name();

    /**
     * One more than the largest token id, special tokens included: the rows of a model's embedding, and the basis of a
     * store's dtype.
     *
     * @return the size
     */
    int vocabularySize();

    /** {@return the id of the token that ends a document} */
    int endOfText();

    /**
     * Encodes a text. Special tokens in it are treated as plain text.
     *
     * @param text the text; an unpaired surrogate in it counts as a question mark
     * @return its token ids
     */
    int[] encode(String text);
}
