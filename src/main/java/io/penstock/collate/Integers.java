package io.penstock.collate;

import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Stores integers that a worker has read into an array, in a wider type. From an array the loops are vectorised. */
final class Integers {

    private static final ValueLayout.OfShort I16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Integers() {
    }

    /**
     * Stores {@code count} values from an index on, as {@code i32} or {@code i64}.
     *
     * @param from the stored dtype: a {@code u32} is extended by zeros, anything else by its sign
     */
    static void store(int[] values, int first, int count, DType from, MemorySegment target, long offset, DType to) {
        switch (to) {
            case I32 -> MemorySegment.copy(values, first, target, I32, offset, count);
            case I64 -> {
                if (from == DType.U32) {
                    storeUnsigned(values, first, count, target, offset);
                } else {
                    storeSigned(values, first, count, target, offset);
                }
            }
            default -> throw new IllegalArgumentException("integers are widened to i32 or i64, not to " + to);
        }
    }

    private static void storeSigned(int[] values, int first, int count, MemorySegment target, long offset) {
        for (int i = 0; i < count; i++) {
            target.set(I64, offset + 8L * i, values[first + i]);
        }
    }

    private static void storeUnsigned(int[] values, int first, int count, MemorySegment target, long offset) {
        for (int i = 0; i < count; i++) {
            target.set(I64, offset + 8L * i, values[first + i] & 0xFFFF_FFFFL);
        }
    }

    /** Fills {@code count} elements of one, two, four or eight bytes with a value: one, then copies of all so far. */
    static void fill(MemorySegment target, long offset, DType dtype, long count, long value) {
        if (count == 0) {
            return;
        }
        switch (dtype.byteSize()) {
            case 1 -> target.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
            case 2 -> target.set(I16, offset, (short) value);
            case 4 -> target.set(I32, offset, (int) value);
            default -> target.set(I64, offset, value);
        }
        long bytes = count * dtype.byteSize();
        for (long filled = dtype.byteSize(); filled < bytes; filled += filled) {
            MemorySegment.copy(target, offset, target, offset + filled, Math.min(filled, bytes - filled));
        }
    }
}
