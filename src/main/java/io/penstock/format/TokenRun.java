package io.penstock.format;

import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;

/**
 * Tokens one after another in a mapped file.
 *
 * @param file the file
 * @param byteOffset where the first token is
 * @param dtype how tokens are stored
 * @param tokenCount how many
 */
public record TokenRun(MappedFile file, long byteOffset, DType dtype, long tokenCount) {

    /**
     * Points at a part of the run.
     *
     * @param firstToken the position of the part's first token
     * @param tokens how many
     * @param into set to the part's bytes
     * @throws IndexOutOfBoundsException if the part is not within the run; names the file and both ends
     */
    public void locate(long firstToken, long tokens, Span into) {
        if (firstToken < 0 || tokens < 0 || tokens > tokenCount - firstToken) {
            throw new IndexOutOfBoundsException(file.location() + ": tokens from " + firstToken + ", " + tokens
                    + " of them, are not within the store's 0 to " + tokenCount);
        }
        int tokenBytes = dtype.byteSize();
        into.set(file, byteOffset + firstToken * tokenBytes, tokens * tokenBytes);
    }

    /**
     * The whole run.
     *
     * @return a view of the mapping
     */
    public Tensor tensor() {
        return Tensor.of(file.range(byteOffset, tokenCount * dtype.byteSize()), dtype, tokenCount);
    }
}
