package io.penstock.transform;

/**
 * The token that tells documents apart within a row of tokens.
 *
 * @param token its id
 * @param place whether it ends documents or begins them
 */
public record DocumentSeparator(long token, Place place) {
    /** Where the token stands. */
    public enum Place {
        /** It is the last token of a document, as {@code <|endoftext|>} behind each. */
        END,
        /** It is the first token of a document, as {@code <s>}, or {@code <|endoftext|>} in the files of llm.c. */
        START
    }

    /**
     * A token that ends documents.
     *
     * @param token its id
     * @return the separator
     */
    public static DocumentSeparator endsWith(long token) {
        return new DocumentSeparator(token, Place.END);
    }

    /**
     * A token that begins documents.
     *
     * @param token its id
     * @return the separator
     */
    public static DocumentSeparator startsWith(long token) {
        return new DocumentSeparator(token, Place.START);
    }
}
