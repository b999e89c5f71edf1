package io.penstock.store;

import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A tensor that a writer is given piece by piece, so that it need not be in memory, or in one piece, anywhere.
 *
 * @param spec its name, dtype and shape, of which no dimension varies
 * @param content gives its bytes, row-major and little-endian
 */
public record StreamedTensor(TensorSpec spec, Content content) {

    /** Gives the bytes of a tensor. */
    @FunctionalInterface
    public interface Content {

        /**
         * Puts all bytes, front to back.
         *
         * @param out takes them
         * @throws IOException if they cannot be read or written
         */
        void writeTo(Output out) throws IOException;
    }

    /** Takes bytes, one piece behind the other. */
    @FunctionalInterface
    public interface Output {

        /**
         * Takes a piece.
         *
         * @param source memory that holds it; not kept
         * @param offset its first byte
         * @param bytes how many
         * @throws IOException if they cannot be written
         */
        void put(MemorySegment source, long offset, long bytes) throws IOException;
    }

    /** Checks. */
    public StreamedTensor {
        Objects.requireNonNull(content, "content");
        if (spec.isVariable()) {
            throw new IllegalArgumentException(spec + " has no fixed size");
        }
    }

    /**
     * A tensor that is in memory, or a view of a mapping.
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
     * Puts all bytes, and checks that they are as many as dtype and shape ask for.
     *
     * @param out takes them
     * @throws IOException if they cannot be read or written
     * @throws IllegalStateException if they are more or fewer
     */
    public void writeTo(Output out) throws IOException {
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
