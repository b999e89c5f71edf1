// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

/**
 * The token that separates documents within a row of tokens.
 *
 * @param token its id
 * @param side whether it ends or starts a document
 */
public record DocumentSeparator(long token, Side side) {
    /** The token's place in its document. */
    public enum Side {
        /** The last token of a document, like {@code <|endoftext|>} after each. */
        END,
        /** The first token of a document, like {@code <s>}, or {@code <|endoftext|>} in llm.c's files. */
        START
    }

    /**
     * A token that ends each document.
     *
     * @param token its id
     * @return the separator
     */
    public static DocumentSeparator endsWith(long token) {
        return new DocumentSeparator(token, Side.END);
    }

    /**
     * A token that starts each document.
     *
     * @param token its id
     * @return the separator
     */
    public static DocumentSeparator startsWith(long token) {
        return new DocumentSeparator(token, Side.START);
    }
}
