// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A tensor that is written piece by piece, so it need not be in memory or contiguous.
 *
 * @param spec its name, dtype and fixed shape
 * @param content writes its bytes, row-major and little-endian
 */
public record StreamedTensor(TensorSpec spec, Content content) {

    /** Writes the bytes of a tensor. */
    @FunctionalInterface
    public interface Content {

        /**
         * Writes all bytes in order.
         *
         * @param out receives them
         * @throws IOException if they cannot be read or written
         */
        void writeTo(Sink out) throws IOException;
    }

    /** Receives consecutive pieces. */
    @FunctionalInterface
    public interface Sink {

        /**
         * Receives a piece.
         *
         * @param source the memory that holds it; not retained
         * @param offset its first byte
         * @param bytes its length
         * @throws IOException if they cannot be written
         */
        void put(MemorySegment source, long offset, long bytes) throws IOException;
    }

    /**
     * Requires a size that is known before the content is written.
     *
     * @throws IllegalArgumentException if the first dimension is variable
     */
    public StreamedTensor {
        Objects.requireNonNull(content, "content");
        if (spec.isVariable()) {
            throw new IllegalArgumentException(spec + " has no fixed size");
        }
    }

    /**
     * Creates a tensor from memory or from a view of a mapping.
     *
     * @param name its name
     * @param tensor its content
     * @return the tensor
     */
    public static StreamedTensor of(String name, Tensor tensor) {
        return new StreamedTensor(new TensorSpec(name, tensor.dtype(), tensor.shape()),
                out -> out.put(tensor.segment(), 0, tensor.byteSize()));
    }

    /**
     * Writes all bytes, and checks their number against dtype and shape.
     *
     * @param out receives them
     * @throws IOException if they cannot be read or written
     * @throws IllegalStateException if they are more or fewer
     */
    public void writeTo(Sink out) throws IOException {
        long[] put = {0};
        content.writeTo((source, offset, bytes) -> {
            out.put(source, offset, bytes);
            put[0] += bytes;
        });
        if (put[0] != spec.byteSize()) {
            throw new IllegalStateException(put[0] + " bytes for " + spec + ", expected " + spec.byteSize());
        }
    }
}
