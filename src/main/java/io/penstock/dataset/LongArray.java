package io.penstock.dataset;

import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;

import io.penstock.io.Span;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A reused {@code long[]} that integers of 8, 16 or 32 bits are read into.
 *
 * <p>Bytes are copied to an array of their width, and that is widened: HotSpot vectorises a loop between arrays of
 * different types wherever it inlines it, since they cannot be the same memory. It does not vectorise a loop over
 * unsigned elements; so they are read as signed ones, and a mask takes the sign's copies away. The mask comes from an
 * array: one that the compiler knows would be folded into the load, which is then one of unsigned elements.
 */
final class LongArray {

    /** What is kept of a value of each dtype: its bits where it is unsigned, otherwise all. */
    private static final long[] MASKS = masks();

    private byte[] bytes = {};
    private short[] shorts = {};
    private int[] ints = {};
    private long[] longs = {};

    private static long[] masks() {
        long[] masks = new long[DType.values().length];
        for (DType dtype : DType.values()) {
            masks[dtype.ordinal()] = dtype.isUnsigned() && dtype.byteSize() < Long.BYTES
                    ? (1L << 8 * dtype.byteSize()) - 1 : -1;
        }
        return masks;
    }

    /** Reads all integers of a span, with their sign or without as they are stored. The array may be longer. */
    long[] read(Span span, DType dtype) {
        MemorySegment from = span.segment();
        long at = span.byteOffset();
        int count = Math.toIntExact(span.byteSize() / dtype.byteSize());
        long mask = MASKS[dtype.ordinal()];
        if (longs.length < count) {
            longs = new long[grown(longs.length, count)];
        }
        switch (dtype) {
            case U8, I8 -> {
                if (bytes.length < count) {
                    bytes = new byte[grown(bytes.length, count)];
                }
                MemorySegment.copy(from, ValueLayout.JAVA_BYTE, at, bytes, 0, count);
                widen(bytes, mask, longs, count);
            }
            case U16, I16 -> {
                if (shorts.length < count) {
                    shorts = new short[grown(shorts.length, count)];
                }
                MemorySegment.copy(from, I16, at, shorts, 0, count);
                widen(shorts, mask, longs, count);
            }
            case U32, I32 -> {
                if (ints.length < count) {
                    ints = new int[grown(ints.length, count)];
                }
                MemorySegment.copy(from, I32, at, ints, 0, count);
                widen(ints, mask, longs, count);
            }
            default -> throw new IllegalArgumentException(dtype + " is not an integer of at most 32 bits");
        }
        return longs;
    }

    /** At least doubles, so that samples of many lengths make an array grow a few times only. */
    private static int grown(int length, int count) {
        return (int) Math.max(count, Math.min(2L * length, IntegerArray.MAX_LENGTH));
    }

    private static void widen(byte[] from, long mask, long[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = from[i] & mask;
        }
    }

    private static void widen(short[] from, long mask, long[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = from[i] & mask;
        }
    }

    private static void widen(int[] from, long mask, long[] to, int count) {
        for (int i = 0; i < count; i++) {
            to[i] = from[i] & mask;
        }
    }
}
