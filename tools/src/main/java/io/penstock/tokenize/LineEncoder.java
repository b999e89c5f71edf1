// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.store.TokenContent;

/** Makes a document's tokens of a line of JSON, where it is more than one text: a conversation. Thread-safe. */
public interface LineEncoder {

    /**
     * Appends the tokens of a line's document. A token that is not trained on is appended as its complement.
     *
     * @param utf8 holds the line, one JSON object; not modified
     * @param from its first byte
     * @param end the byte after its last
     * @param ids receives the tokens after those that it has
     * @return whether the line is a document; false leaves it out, whatever was appended
     * @throws IllegalArgumentException if the line cannot be encoded; the job adds file and line to the message
     */
    boolean encode(byte[] utf8, int from, int end, TokenBuffer ids);

    /** {@return what the numbers are that it appends; by default masked tokens} */
    default TokenContent content() {
        return TokenContent.MASKED_TOKENS;
    }

    /** {@return what the tokens depend on besides line and vocabulary: parts of one store must have it in common} */
    String fingerprint();
}
