package io.penstock.decode;

import io.penstock.format.numpy.NpyValue;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An array as numpy saves it ({@code .npy}), of a known type and shape; whatever order and byte order it is stored in,
 * it becomes row-major and little-endian.
 */
public final class NpyDecoder implements Decoder {

    private final TensorSpec spec;

    private NpyDecoder(TensorSpec spec) {
        this.spec = spec;
    }

    /**
     * A decoder.
     *
     * @param dtype of the elements; an array of others is an error
     * @param shape of a value; none for a scalar; the first dimension may be {@link TensorSpec#VARIABLE}
     * @return the decoder
     * @throws IllegalArgumentException if there is no such shape
     */
    public static NpyDecoder of(DType dtype, long... shape) {
        return new NpyDecoder(new TensorSpec("", dtype, shape));
    }

    /**
     * A decoder of arrays like one that is at hand, for example the first sample's.
     *
     * @param npy all bytes of a {@code .npy}
     * @return the decoder of arrays of its dtype and shape
     * @throws IOException if it is malformed, or of no type that is read
     */
    public static NpyDecoder like(byte[] npy) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocateFrom(ValueLayout.JAVA_BYTE, npy);
            return new NpyDecoder(new NpyValue(null).read(copy, npy.length));
        }
    }

    @Override
    public TensorSpec field(Column column) {
        Decoders.requireBytes(column, "a .npy");
        return new TensorSpec(column.name(), spec.dtype(), spec.shape());
    }

    @Override
    public Session open() {
        return new Arrays(spec);
    }

    private static final class Arrays implements Session {

        private final TensorSpec expected;
        private final NpyValue value;
        /** What was compared last: arrays with the same header have the same spec. */
        private @Nullable TensorSpec agreed;

        Arrays(TensorSpec expected) {
            this.expected = expected;
            this.value = new NpyValue(expected.dtype());
        }

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) throws IOException {
            TensorSpec found = value.read(stored, storedBytes);
            if (found != agreed) {
                TensorSpec wanted = expected.isVariable() && found.rank() == expected.rank()
                        ? expected.withLength(found.dim(0)) : expected;
                if (!Objects.equals(found, wanted)) {
                    throw new DecodeException("an array" + found, expected.toString().substring(2));
                }
                agreed = found;
            }
            return value.dataBytes();
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            DecodeException.checkSize(byteSize(stored, storedBytes), targetBytes);
            value.copyTo(target, targetOffset);
        }

        @Override
        public void close() {
            // Holds nothing.
        }
    }

    @Override
    public String toString() {
        return "numpy arrays" + spec;
    }
}
