// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Numbers the tokens that occur in the training text from 0. A tokenizer has tens of thousands of tokens, of which a
 * small corpus uses a few: with all of them, nearly all of a small model would be its embedding.
 */
final class Vocabulary {

    /** The tokenizer's tokens, by their numbers here; ascending. */
    private final int[] tokens;

    Vocabulary(int[] tokens) {
        this.tokens = tokens;
    }

    static Vocabulary of(BitSet tokens) {
        return new Vocabulary(tokens.stream().toArray());
    }

    int[] tokens() {
        return tokens;
    }

    int size() {
        return tokens.length;
    }

    /** The size rounded up to what the kernels take; the tokens beyond never occur. */
    int paddedSize() {
        return Math.ceilDiv(size(), Matmul.MULTIPLE) * Matmul.MULTIPLE;
    }

    int token(int number) {
        return tokens[number];
    }

    /**
     * The number of a token.
     *
     * @throws IllegalArgumentException if it did not occur in the training text
     */
    int number(int token) {
        int number = Arrays.binarySearch(tokens, token);
        if (number < 0) {
            throw new IllegalArgumentException("token " + token + " does not occur in the training text");
        }
        return number;
    }
}
