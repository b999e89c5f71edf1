package io.penstock.dataset.reading;

import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;

import io.penstock.dataset.source.BatchReader;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A reused {@code int[]} for integers of 8, 16 or 32 bits.
 *
 * <p>Why an array: HotSpot vectorizes loops between arrays, and from an array to native memory, but not between native
 * memory, which might overlap. A bulk copy in the L1 cache costs less than the loop it saves.
 *
 * <p>Why pairs: it does not vectorize a loop that widens 16-bit elements either, but it does from {@code int} to
 * {@code long}. So two {@code u16} are read as one {@code int}, {@code BBAA}, and spread over one {@code long},
 * {@code 00BB00AA}, which is two {@code int}s side by side: a third of the time of the plain loop.
 */
final class IntegerArray {

    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private byte[] bytes = {};
    private short[] shorts = {};
    private int[] pairs = {};
    private long[] spread = {};
    private MemorySegment spreadBytes = MemorySegment.NULL;
    private int[] ints = {};
    private MemorySegment intBytes = MemorySegment.NULL;

    /** Reads all integers of a span; a {@code u32} keeps its bits. The array may be longer than they are. */
    int[] read(Span span, DType dtype) {
        MemorySegment from = span.segment();
        long at = span.byteOffset();
        int count = Math.toIntExact(span.byteSize() / dtype.byteSize());
        if (ints.length < count) {
            grow(count);
        }
        switch (dtype) {
            case U16 -> readPairs(from, at, count);
            case I16 -> {
                MemorySegment.copy(from, I16, at, shorts, 0, count);
                widen(shorts, ints, count);
            }
            case U8, I8 -> {
                MemorySegment.copy(from, ValueLayout.JAVA_BYTE, at, bytes, 0, count);
                widen(bytes, dtype == DType.U8 ? 0xFF : -1, ints, count);
            }
            case U32, I32 -> MemorySegment.copy(from, I32, at, ints, 0, count);
            default -> throw new IllegalArgumentException(dtype + " does not fit 32-bit integers");
        }
        return ints;
    }

    /** At least doubles, so that varying lengths grow it rarely. */
    private void grow(int count) {
        int length = (int) Math.max(count, Math.min(2L * ints.length, BatchReader.MAX_INTEGERS));
        bytes = new byte[length];
        shorts = new short[length];
        pairs = new int[length / 2];
        spread = new long[length / 2];
        spreadBytes = MemorySegment.ofArray(spread);
        ints = new int[length];
        intBytes = MemorySegment.ofArray(ints);
    }

    private void readPairs(MemorySegment from, long at, int count) {
        int pairCount = count / 2;
        MemorySegment.copy(from, I32, at, pairs, 0, pairCount);
        spread(pairs, spread, pairCount);
        MemorySegment.copy(spreadBytes, 0, intBytes, 0, (long) pairCount * Long.BYTES);
        if (count % 2 == 1) {
            ints[count - 1] = from.get(I16, at + 2L * (count - 1)) & 0xFFFF;
        }
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
}
