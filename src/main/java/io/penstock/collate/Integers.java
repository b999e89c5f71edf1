// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;
import static io.penstock.memory.LittleEndian.I64;

import io.penstock.dataset.source.BatchReader;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Stores integers from a worker's array at the batch's width, and fills memory with one value. */
final class Integers {

    /** The offset of a field that is not wanted. */
    static final long NONE = -1;

    /** The most frequent fill. Copying an array is twice as fast as any loop of stores that HotSpot compiles. */
    private static final byte[] ZEROS = new byte[8192];
    private static final byte[] ONES = ones();

    /** Bytes of a pattern written one by one before it is copied. */
    private static final long PATTERN_BYTES = 64;

    /** Checks that ids may be widened to a dtype, which is that of labels, too. */
    static DType widened(DType dtype) {
        if (dtype != DType.I32 && dtype != DType.I64) {
            throw new IllegalArgumentException("tokens as " + dtype + ": expected i32 or i64");
        }
        return dtype;
    }

    /**
     * The dtype of a batch's ids.
     *
     * @param widened what they are widened to; null for the store's dtype
     * @throws IllegalArgumentException if the store's ids are not integers, or are wider
     */
    static DType dtype(@Nullable DType widened, DType stored) {
        DType wanted = widened == null ? stored : widened;
        if (!stored.isInteger() || stored.byteSize() > wanted.byteSize()) {
            throw new IllegalArgumentException("tokens stored as " + stored + " cannot be converted to " + wanted);
        }
        return wanted;
    }

    /** Stores {@code count} values from index {@code first} on, as {@code i32}. */
    static void store(int[] values, int first, int count, MemorySegment target, long offset) {
        MemorySegment.copy(values, first, target, I32, offset, count);
    }

    /**
     * Stores {@code count} values from index {@code first} on, as {@code i64}. A vectorized loop of stores takes as
     * long, but HotSpot does not always vectorize it; a copy is always fast.
     */
    static void store(long[] values, int first, int count, MemorySegment target, long offset) {
        MemorySegment.copy(values, first, target, I64, offset, count);
    }

    /**
     * Writes a run of tokens at the batch's width, and the labels of its first {@code labeled} tokens: the token that
     * follows each.
     *
     * @param span the tokens in their dtype {@code from}; one more if the last one has a label
     * @param labels where the labels go; {@link #NONE} to write none
     */
    static void storeTokens(BatchReader in, Span span, DType from, int length, int labeled, MemorySegment slab,
            DType to, long ids, long labels) {
        boolean wantsLabels = labels != NONE;
        int count = wantsLabels ? Math.max(length, labeled + 1) : length;
        if (from.byteSize() == to.byteSize()) {
            in.copyPart(span, 0, (long) length * to.byteSize(), slab, ids);
            if (wantsLabels) {
                in.copyPart(span, to.byteSize(), (long) labeled * to.byteSize(), slab, labels);
            }
        } else if (to == DType.I64) {
            long[] tokens = in.readLongs(span, count, from);
            store(tokens, 0, length, slab, ids);
            if (wantsLabels) {
                store(tokens, 1, labeled, slab, labels);
            }
        } else {
            int[] tokens = in.readIntegers(span, count, from);
            store(tokens, 0, length, slab, ids);
            if (wantsLabels) {
                store(tokens, 1, labeled, slab, labels);
            }
        }
    }

    /** Fills {@code count} elements of one, two, four or eight bytes with a value. */
    static void fill(MemorySegment target, long offset, DType dtype, long count, long value) {
        long end = offset + count * dtype.byteSize();
        if (value == 0) {
            repeat(ZEROS, target, offset, end);
        } else if (value == 1 && dtype.byteSize() == 1) {
            repeat(ONES, target, offset, end);
        } else {
            repeat(value, dtype.byteSize(), target, offset, end);
        }
    }

    private static byte[] ones() {
        byte[] ones = new byte[ZEROS.length];
        Arrays.fill(ones, (byte) 1);
        return ones;
    }

    private static void repeat(byte[] source, MemorySegment target, long offset, long end) {
        for (long at = offset; at < end; at += source.length) {
            MemorySegment.copy(source, 0, target, ValueLayout.JAVA_BYTE, at, (int) Math.min(source.length, end - at));
        }
    }

    /** Writes a few elements, doubles them by copying up to the arrays' size, then repeats the result. */
    private static void repeat(long value, int size, MemorySegment target, long offset, long end) {
        long written = Math.min(end - offset, PATTERN_BYTES);
        for (long at = offset; at < offset + written; at += size) {
            switch (size) {
                case 1 -> target.set(ValueLayout.JAVA_BYTE, at, (byte) value);
                case 2 -> target.set(I16, at, (short) value);
                case 4 -> target.set(I32, at, (int) value);
                default -> target.set(I64, at, value);
            }
        }
        for (long at = offset + written; at < end;) {
            long bytes = Math.min(Math.min(at - offset, ZEROS.length), end - at);
            MemorySegment.copy(target, offset, target, at, bytes);
            at += bytes;
        }
    }
}
