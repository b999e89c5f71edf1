// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;

/**
 * Contiguous tokens in a mapped file.
 *
 * @param file the file
 * @param byteOffset the first token's offset
 * @param dtype the stored type of the tokens
 * @param tokenCount the number of tokens
 */
public record TokenRun(MappedFile file, long byteOffset, DType dtype, long tokenCount) {

    /** Locates a part of the run. */
    public void locate(long firstToken, long tokens, Span into) {
        if (firstToken < 0 || tokens < 0 || tokens > tokenCount - firstToken) {
            throw new IndexOutOfBoundsException(file.location() + ": tokens from " + firstToken + ", " + tokens
                    + " of them, are not within the store's 0 to " + tokenCount);
        }
        int tokenBytes = dtype.byteSize();
        into.set(file, byteOffset + firstToken * tokenBytes, tokens * tokenBytes);
    }

    /** Returns the whole run. */
    public Tensor tensor() {
        return Tensor.of(file.range(byteOffset, tokenCount * dtype.byteSize()), dtype, tokenCount);
    }
}
