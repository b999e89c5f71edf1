// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.io.Span;

/** Sequences of a fixed capacity, each the concatenation of pieces of documents, in one field {@code tokens}. */
public interface PackedSamples extends Dataset {

    /** {@return the tokens that a sequence has room for} */
    int capacity();

    /** {@return the most pieces in a sequence, or a bound of them} */
    int maxParts();

    /**
     * {@return the number of pieces in a sequence}
     *
     * @param sample the sequence's index
     * @throws IndexOutOfBoundsException if the sequence does not exist
     */
    int parts(long sample);

    /**
     * {@return the number of tokens in a sequence, at most the capacity}
     *
     * @param sample the sequence's index
     * @throws IndexOutOfBoundsException if the sequence does not exist
     */
    int length(long sample);

    /**
     * Locates a piece and, if the document continues, the following token: the label of the piece's last token.
     *
     * @param sample the sequence's index
     * @param part the piece's number in the sequence
     * @param into receives the piece's tokens, and one more if the document continues
     * @return the number of tokens of the piece
     * @throws IndexOutOfBoundsException if the sequence or piece does not exist
     */
    int locateWithNext(long sample, int part, Span into);
}
