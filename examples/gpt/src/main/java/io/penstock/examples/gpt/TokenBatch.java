// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

/** A batch as the model takes it. Sequences stand one behind the other; arrays have an element for each token. */
final class TokenBatch {

    /** The label of a token that has none: the last of a document, and padding. */
    static final int IGNORED = -100;

    /** Tokens, by their numbers in the vocabulary. */
    final int[] ids;
    /** Tokens before each token in its document. */
    final int[] positions;
    /** The next token, or {@link #IGNORED}. */
    final int[] labels;
    /** How many of the elements are used: a multiple of the context. */
    int rows;

    TokenBatch(int maxRows) {
        ids = new int[maxRows];
        positions = new int[maxRows];
        labels = new int[maxRows];
    }

    /** The tokens that have a label. */
    int labelled() {
        int count = 0;
        for (int row = 0; row < rows; row++) {
            count += labels[row] == IGNORED ? 0 : 1;
        }
        return count;
    }
}
