// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;

/** Contiguous tokens in a mapped file, the first one at {@code byteOffset}. */
public record TokenRun(MappedFile file, long byteOffset, DType dtype, long tokenCount) {

    public void locate(long firstToken, long tokens, Span into) {
        check(file.location(), firstToken, tokens, tokenCount);
        int tokenBytes = dtype.byteSize();
        into.set(file, byteOffset + firstToken * tokenBytes, tokens * tokenBytes);
    }

    /** Checks that a range of tokens is within a store's. */
    public static void check(Location store, long firstToken, long tokens, long tokenCount) {
        if (firstToken < 0 || tokens < 0 || tokens > tokenCount - firstToken) {
            throw new IndexOutOfBoundsException(store + ": " + tokens + " tokens from " + firstToken
                    + ", expected a range within 0 to " + tokenCount);
        }
    }

    /** Returns the error for a range of tokens that is located as one piece, but is not. */
    public static UnsupportedOperationException inPieces(Location store, long firstToken, long tokens, int pieces) {
        return new UnsupportedOperationException(store + ": " + tokens + " tokens from " + firstToken + " lie in "
                + pieces + " pieces, expected one");
    }

    public Tensor tensor() {
        return Tensor.of(file.range(byteOffset, tokenCount * dtype.byteSize()), dtype, tokenCount);
    }
}
