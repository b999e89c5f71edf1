// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

/**
 * Which documents a job writes. A document's length does not count an end-of-text token that the job appends; the total
 * does.
 *
 * @param minTokens the shortest document, in tokens
 * @param maxTokens the longest document, in tokens
 * @param totalTokens the most tokens of all documents; the first document that exceeds it ends the job
 */
record DocumentLimits(long minTokens, long maxTokens, long totalTokens) {

    static final DocumentLimits NONE = new DocumentLimits(0, Long.MAX_VALUE, Long.MAX_VALUE);

    DocumentLimits {
        if (minTokens < 0 || maxTokens < minTokens) {
            throw new IllegalArgumentException("tokens of a document: found at least " + minTokens + " and at most "
                    + maxTokens + ", expected at least 0, and at most as many or more");
        }
        if (totalTokens < 1) {
            throw new IllegalArgumentException("tokens in total: found at most " + totalTokens
                    + ", expected at least 1");
        }
    }

    boolean accept(long tokens) {
        return tokens >= minTokens && tokens <= maxTokens;
    }
}
