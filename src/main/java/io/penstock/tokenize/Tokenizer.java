package io.penstock.tokenize;

import java.util.List;

/** Turns text into token ids; may be used by any number of threads. */
public interface Tokenizer {

    /**
     * The tokenizer of a published encoding. The vocabulary is read at the first call, which takes a moment.
     *
     * @param encoding one of {@link #encodings}
     * @return the tokenizer
     * @throws IllegalArgumentException if there is no encoding of that name
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
     * The names that {@link #of} knows.
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
     * One more than the greatest token id, special tokens included: what a model's embedding must have room for, and
     * what decides the width of a store.
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
     * Encodes a text. What looks like a special token in it is plain text.
     *
     * @param text the text; an unpaired surrogate in it counts as a question mark
     * @return its token ids
     */
    int[] encode(String text);
}
