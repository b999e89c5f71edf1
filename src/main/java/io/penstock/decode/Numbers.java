// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import io.penstock.error.CodecException;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** {@link Decoder#numbers}. */
final class Numbers implements Decoder {

    private final TensorSpec spec;

    Numbers(DType dtype, long... shape) {
        spec = new TensorSpec("", dtype, shape);
        if (spec.isVariable() && spec.rowBytes() == 0) {
            throw new IllegalArgumentException("a variable number of rows of 0 bytes, expected 1 or more a row");
        }
    }

    @Override
    public TensorSpec field(Column column) {
        Scalars.requireBytes(column, "bytes");
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
                throw new CodecException(storedBytes + " bytes of numbers",
                        (fixedBytes >= 0 ? fixedBytes + " for" : "a multiple of " + rowBytes + " for") + spec);
            }
            return storedBytes;
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            Scalars.checkSize(byteSize(stored, storedBytes), targetBytes);
            MemorySegment.copy(stored, 0, target, targetOffset, storedBytes);
        }
    }

    @Override
    public String toString() {
        return "raw numbers" + spec;
    }
}
