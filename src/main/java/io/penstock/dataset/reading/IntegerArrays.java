// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;
import static io.penstock.memory.LittleEndian.I64;

import io.penstock.dataset.source.BatchReader;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Reused arrays for integers, widened to 32 or 64 bits.
 *
 * <p>Why arrays: HotSpot vectorizes loops between arrays of different types, and from an array to native memory, but
 * not between native memory, which might overlap. A bulk copy in the L1 cache costs less than the loop it saves.
 *
 * <p>Why masks: HotSpot does not vectorize a loop over unsigned elements. So they are read as signed, and a mask
 * removes the sign bits. The mask comes from an array: the compiler would fold a constant into the load and make it
 * unsigned again.
 *
 * <p>Why pairs: HotSpot does not vectorize a loop that widens 16-bit elements to 32 bits either, but it does from
 * {@code int} to {@code long}. So two {@code u16} are read as one {@code int}, {@code BBAA}, and spread over one
 * {@code long}, {@code 00BB00AA}, which is two {@code int}s side by side: a third of the time of the plain loop.
 */
final class IntegerArrays {

    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private static final long[] MASKS = masks();

    private byte[] bytes = {};
    private short[] shorts = {};
    private int[] quads = {};
    private long[] spread = {};
    private MemorySegment spreadBytes = MemorySegment.NULL;
    private int[] ints = {};
    private MemorySegment intBytes = MemorySegment.NULL;
    private long[] longs = {};

    private static long[] masks() {
        long[] masks = new long[DType.values().length];
        for (DType dtype : DType.values()) {
            masks[dtype.ordinal()] = dtype.isUnsigned() && dtype.byteSize() < Long.BYTES
                    ? (1L << 8 * dtype.byteSize()) - 1 : -1;
        }
        return masks;
    }

    /** Reads all integers of a span; a {@code u32} keeps its bits. The array may be longer than they are. */
    int[] ints(Span span, DType dtype) {
        MemorySegment from = span.segment();
        long at = span.byteOffset();
        int count = Math.toIntExact(span.byteSize() / dtype.byteSize());
        if (ints.length < count) {
            ints = new int[grown(ints.length, count)];
            intBytes = MemorySegment.ofArray(ints);
        }
        switch (dtype) {
            case U16 -> readPairs(from, at, count);
            case I16 -> widen(shorts(from, at, count), ints, count);
            case U8, I8 -> widen(bytes(from, at, count), dtype == DType.U8 ? 0xFF : -1, ints, count);
            case U32, I32 -> MemorySegment.copy(from, I32, at, ints, 0, count);
            default -> throw new IllegalArgumentException(dtype + " does not fit 32-bit integers");
        }
        return ints;
    }

    /**
     * Reads all integers or truth values of a span, signed or unsigned as stored; a {@code u64} keeps its bits. The
     * array may be longer than they are.
     */
    long[] longs(Span span, DType dtype) {
        MemorySegment from = span.segment();
        long at = span.byteOffset();
        int count = Math.toIntExact(span.byteSize() / dtype.byteSize());
        long mask = MASKS[dtype.ordinal()];
        if (longs.length < count) {
            longs = new long[grown(longs.length, count)];
        }
        switch (dtype) {
            case U8, I8 -> widen(bytes(from, at, count), mask, longs, count);
            case U16, I16 -> widen(shorts(from, at, count), mask, longs, count);
            case U32, I32 -> widen(quads(from, at, count), mask, longs, count);
            case U64, I64 -> MemorySegment.copy(from, I64, at, longs, 0, count);
            case BOOL -> {
                byte[] truths = bytes(from, at, count);
                for (int i = 0; i < count; i++) {
                    longs[i] = truths[i] == 0 ? 0 : 1;
                }
            }
            default -> throw new IllegalArgumentException(dtype + " is not an integer");
        }
        return longs;
    }

    private byte[] bytes(MemorySegment from, long at, int count) {
        if (bytes.length < count) {
            bytes = new byte[grown(bytes.length, count)];
        }
        MemorySegment.copy(from, ValueLayout.JAVA_BYTE, at, bytes, 0, count);
        return bytes;
    }

    private short[] shorts(MemorySegment from, long at, int count) {
        if (shorts.length < count) {
            shorts = new short[grown(shorts.length, count)];
        }
        MemorySegment.copy(from, I16, at, shorts, 0, count);
        return shorts;
    }

    private int[] quads(MemorySegment from, long at, int count) {
        if (quads.length < count) {
            quads = new int[grown(quads.length, count)];
        }
        MemorySegment.copy(from, I32, at, quads, 0, count);
        return quads;
    }

    private void readPairs(MemorySegment from, long at, int count) {
        int pairs = count / 2;
        if (spread.length < pairs) {
            spread = new long[grown(spread.length, pairs)];
            spreadBytes = MemorySegment.ofArray(spread);
        }
        spread(quads(from, at, pairs), spread, pairs);
        MemorySegment.copy(spreadBytes, 0, intBytes, 0, (long) pairs * Long.BYTES);
        if (count % 2 == 1) {
            ints[count - 1] = from.get(I16, at + 2L * (count - 1)) & 0xFFFF;
        }
    }

    /** At least doubles, so that varying lengths grow an array rarely. */
    private static int grown(int length, int count) {
        return (int) Math.max(count, Math.min(2L * length, BatchReader.MAX_INTEGERS));
    }

    /** Puts the earlier of two tokens into the half of the {@code long} that is first in memory. */
    private static void spread(int[] from, long[] to, int count) {
        if (LITTLE_ENDIAN) {
            for (int i = 0; i < count; i++) {
                long pair = from[i];
                to[i] = pair & 0xFFFFL | (pair & 0xFFFF_0000L) << 16;
            }
        } else {
            for (int i = 0; i < count; i++) {
                long pair = from[i];
                to[i] = (pair & 0xFFFFL) << 32 | pair >>> 16 & 0xFFFFL;
            }
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
