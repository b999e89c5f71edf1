// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/** {@link Decoder#decimal}. */
final class DecimalText implements Decoder {

    private static final int MAX_SHOWN_BYTES = 64;
    /** The tens of the greatest {@code u64}, and its last digit. */
    private static final long MOST_TENTHS = Long.divideUnsigned(-1, 10);
    private static final int MOST_LAST_DIGIT = 5;

    private final DType dtype;

    DecimalText(DType dtype) {
        if (!dtype.isInteger()) {
            throw new IllegalArgumentException("decimal digits to " + dtype + ", expected integers");
        }
        this.dtype = dtype;
    }

    @Override
    public TensorSpec field(Column column) {
        Scalars.requireBytes(column, "a text");
        return new TensorSpec(column.name(), dtype);
    }

    @Override
    public Session open() {
        return new Digits(dtype);
    }

    private record Digits(DType dtype) implements Session {

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) {
            return dtype.byteSize();
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            Scalars.checkSize(dtype.byteSize(), targetBytes);
            long from = 0;
            long to = storedBytes;
            while (from < to && isSpace(stored.get(JAVA_BYTE, from))) {
                from++;
            }
            while (to > from && isSpace(stored.get(JAVA_BYTE, to - 1))) {
                to--;
            }
            long digits = from;
            boolean negative = false;
            if (digits < to && (stored.get(JAVA_BYTE, digits) == '-' || stored.get(JAVA_BYTE, digits) == '+')) {
                negative = stored.get(JAVA_BYTE, digits) == '-';
                digits++;
            }
            if (digits == to) {
                throw refused(stored, storedBytes);
            }
            // Unsigned, as a u64 may be greater than any long.
            long magnitude = 0;
            for (long i = digits; i < to; i++) {
                int digit = stored.get(JAVA_BYTE, i) - '0';
                if (digit < 0 || digit > 9 || Long.compareUnsigned(magnitude, MOST_TENTHS) > 0
                        || magnitude == MOST_TENTHS && digit > MOST_LAST_DIGIT) {
                    throw refused(stored, storedBytes);
                }
                magnitude = magnitude * 10 + digit;
            }
            if (!holds(magnitude, negative)) {
                throw refused(stored, storedBytes);
            }
            Scalars.put(dtype, negative ? -magnitude : magnitude, target, targetOffset);
        }

        private boolean holds(long magnitude, boolean negative) {
            if (magnitude < 0 && !(negative && magnitude == Long.MIN_VALUE)) {
                return dtype == DType.U64 && !negative;
            }
            return Scalars.holds(dtype, negative ? -magnitude : magnitude);
        }

        private static boolean isSpace(byte c) {
            return c == ' ' || c >= '\t' && c <= '\r';
        }

        private CodecException refused(MemorySegment stored, long storedBytes) {
            byte[] text = stored.asSlice(0, Math.min(storedBytes, MAX_SHOWN_BYTES)).toArray(JAVA_BYTE);
            return new CodecException(Scalars.shown(new String(text, StandardCharsets.UTF_8)),
                    "an integer in decimal digits that " + dtype + " holds");
        }
    }

    @Override
    public String toString() {
        return "decimal digits to " + dtype;
    }
}
