package io.penstock.dataset.reading;

import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;

import io.penstock.dataset.source.BatchReader;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A reused {@code long[]} for integers of 8, 16 or 32 bits.
 *
 * <p>Bytes are copied to an array of their width and then widened: HotSpot vectorizes an inlined loop between arrays of
 * different types, which cannot overlap. It does not vectorize a loop over unsigned elements; so they are read as
 * signed, and a mask removes the sign bits. The mask comes from an array: the compiler would fold a constant into the
 * load and make it unsigned again.
 */
final class LongArray {

    /** The mask of each dtype: the bits of an unsigned value, otherwise all. */
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

    /** Reads all integers of a span, signed or unsigned as stored. The array may be longer. */
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

    /** At least doubles, so that varying lengths grow an array rarely. */
    private static int grown(int length, int count) {
        return (int) Math.max(count, Math.min(2L * length, BatchReader.MAX_INTEGERS));
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
