// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.penstock.decode.Decoder;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Copies the records of {@link NumberSource}, but for those whose number modulo 7 is 3. */
record PickyDecoder() implements Decoder {

    @Override
    public TensorSpec field(Column column) {
        return new TensorSpec(column.name(), DType.I64, 2);
    }

    @Override
    public Session open() {
        return new Session() {
            @Override
            public long byteSize(MemorySegment stored, long storedBytes) {
                return storedBytes;
            }

            @Override
            public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                    long targetBytes) throws IOException {
                long number = stored.get(JAVA_LONG_UNALIGNED, Long.BYTES);
                if (number % 7 == 3) {
                    throw new IOException("found " + number + ", expected another");
                }
                MemorySegment.copy(stored, 0, target, targetOffset, targetBytes);
            }
        };
    }
}
