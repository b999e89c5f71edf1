package io.penstock.dataset;

import io.penstock.memory.DType;
import io.penstock.memory.Span;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A reused {@code int[]} that integers of 8, 16 or 32 bits are read into.
 *
 * <p>Why an array: HotSpot vectorises loops between arrays, and from an array to native memory, but not from native
 * memory to native memory, which might overlap. A bulk copy into an array of the stored width and a loop to
 * {@code int[]}, both in the first-level cache, take less time than the loop that they save.
 */
final class IntegerArray {

    private static final ValueLayout.OfChar CHARS =
            ValueLayout.JAVA_CHAR_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORTS =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INTS = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** What HotSpot gives an array. */
    static final int MAX_LENGTH = Integer.MAX_VALUE - 8;

    private byte[] bytes = {};
    private short[] shorts = {};
    private char[] chars = {};
    private int[] ints = {};

    /** Reads all integers of a span; a {@code u32} keeps its bits. The array may be longer than they are. */
    int[] read(Span span, DType dtype) {
        MemorySegment from = span.segment();
        long at = span.byteOffset();
        int count = Math.toIntExact(span.byteSize() / dtype.byteSize());
        if (ints.length < count) {
            grow(count);
        }
        switch (dtype) {
            case U16 -> {
                MemorySegment.copy(from, CHARS, at, chars, 0, count);
                widen(chars, ints, count);
            }
            case I16 -> {
                MemorySegment.copy(from, SHORTS, at, shorts, 0, count);
                widen(shorts, ints, count);
            }
            case U8, I8 -> {
                MemorySegment.copy(from, ValueLayout.JAVA_BYTE, at, bytes, 0, count);
                widen(bytes, dtype == DType.U8 ? 0xFF : -1, ints, count);
            }
            case U32, I32 -> MemorySegment.copy(from, INTS, at, ints, 0, count);
            default -> throw new IllegalArgumentException(dtype + " does not fit 32-bit integers");
        }
        return ints;
    }

    /** At least doubles, so that samples of many lengths grow it a few times only. */
    private void grow(int count) {
        int length = (int) Math.max(count, Math.min(2L * ints.length, MAX_LENGTH));
        bytes = new byte[length];
        shorts = new short[length];
        chars = new char[length];
        ints = new int[length];
    }

    private static void widen(char[] from, int[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = from[i];
        }
    }

    private static void widen(short[] from, int[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = from[i];
        }
    }

    private static void widen(byte[] from, int mask, int[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = from[i] & mask;
        }
    }
}
