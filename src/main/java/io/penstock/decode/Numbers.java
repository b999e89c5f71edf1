package io.penstock.decode;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Raw numbers: elements of a known type, little-endian and packed, in a known shape. */
public final class Numbers implements Decoder {

    private final TensorSpec spec;

    private Numbers(TensorSpec spec) {
        this.spec = spec;
    }

    /**
     * A decoder.
     *
     * @param dtype of the elements
     * @param shape of a value; none for a scalar; the first dimension may be {@link TensorSpec#VARIABLE}, which is as
     *     many as there are bytes for
     * @return the decoder
     * @throws IllegalArgumentException if there is no such shape, or its rows are empty and how many is not known
     */
    public static Numbers of(DType dtype, long... shape) {
        TensorSpec spec = new TensorSpec("", dtype, shape);
        if (spec.isVariable() && spec.rowBytes() == 0) {
            throw new IllegalArgumentException("as many rows of no bytes as there are bytes for");
        }
        return new Numbers(spec);
    }

    @Override
    public TensorSpec field(Column column) {
        Decoders.requireBytes(column, "bytes");
        return new TensorSpec(column.name(), spec.dtype(), spec.shape());
    }

    @Override
    public Session open() {
        return new Copy(spec.rowBytes(), spec.isVariable() ? -1 : spec.byteSize(), spec);
    }

    private record Copy(long rowBytes, long fixedBytes, TensorSpec spec) implements Session {

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) throws IOException {
            if (fixedBytes >= 0 ? storedBytes != fixedBytes : storedBytes % rowBytes != 0) {
                throw new DecodeException(storedBytes + " bytes of numbers",
                        (fixedBytes >= 0 ? fixedBytes + " for" : "a multiple of " + rowBytes + " for") + spec);
            }
            return storedBytes;
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            DecodeException.checkSize(byteSize(stored, storedBytes), targetBytes);
            MemorySegment.copy(stored, 0, target, targetOffset, storedBytes);
        }

        @Override
        public void close() {
            // Holds nothing.
        }
    }

    @Override
    public String toString() {
        return "raw numbers" + spec;
    }
}
