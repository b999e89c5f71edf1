// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import java.util.Locale;

/** What the numbers of a token store are. Specified in {@code docs/spec/conversations.md}. */
public enum TokenContent {

    /** Ids of tokens. */
    TOKENS,
    /**
     * Ids, and complements ({@code ~id}, which are negative) of those that a model reads but is not trained on, such as
     * a question: {@code i32}.
     */
    MASKED_TOKENS,
    /**
     * A document is the answers to one question: their number, the length and the score of each, and the masked tokens
     * of each: {@code i32}.
     */
    ANSWERS;

    /** {@return the name of the field that datasets have of it: the constant's in lower case} */
    public String fieldName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
