// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import io.penstock.error.CodecException;
import io.penstock.format.numpy.NpyValue;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** {@link Decoder#npy}. */
final class NpyDecoder implements Decoder {

    private final TensorSpec spec;

    NpyDecoder(TensorSpec spec) {
        this.spec = spec;
    }

    static NpyDecoder like(byte[] npy) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocateFrom(ValueLayout.JAVA_BYTE, npy);
            return new NpyDecoder(new NpyValue(null).read(copy, npy.length));
        }
    }

    @Override
    public TensorSpec field(Column column) {
        Scalars.requireBytes(column, "a .npy");
        return new TensorSpec(column.name(), spec.dtype(), spec.shape());
    }

    @Override
    public Session open() {
        return new Arrays(spec);
    }

    private static final class Arrays implements Session {

        private final TensorSpec expected;
        private final NpyValue value;
        /** The last accepted spec: arrays with the same header have the same spec. */
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
                    throw new CodecException("an array" + found, expected.toString().substring(2));
                }
                agreed = found;
            }
            return value.dataBytes();
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            Scalars.checkSize(byteSize(stored, storedBytes), targetBytes);
            value.copyTo(target, targetOffset);
        }
    }

    @Override
    public String toString() {
        return "numpy arrays" + spec;
    }
}
