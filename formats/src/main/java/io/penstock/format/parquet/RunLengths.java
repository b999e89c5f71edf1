// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.CodecException;
import io.penstock.memory.LittleEndian;
import java.util.Arrays;

/**
 * Reads numbers of few bits: levels, indices of a dictionary, booleans. They are stored in runs, each a varint and its
 * content: {@code count << 1} and one repeated value, or {@code groups << 1 | 1} and groups of 8 values, the lowest bit
 * first. Source: {@code Encodings.md} of apache/parquet-format, encoding RLE.
 */
final class RunLengths implements Levels {

    private static final int MAX_BITS = 32;
    private static final int GROUP = 8;
    /** Of numbers with so many bits, 8 bytes have four, or two, wherever the first begins. */
    private static final int FOUR_BITS = 14;
    private static final int TWO_BITS = 28;

    private final PageBytes in;
    private final int bits;
    private final int mask;
    private final String called;
    private long runLeft;
    private boolean packed;
    private int value;
    private long packedStart;
    private long packedBit;

    /** Creates a reader of numbers of 0 to 32 bits; {@code called} names them in messages. */
    RunLengths(PageBytes in, int bits, String called) {
        if (bits < 0 || bits > MAX_BITS) {
            throw new CodecException(called + " of " + bits + " bits");
        }
        this.in = in;
        this.bits = bits;
        this.mask = bits == 0 ? 0 : -1 >>> MAX_BITS - bits;
        this.called = called;
    }

    @Override
    public void read(int[] into, int count) {
        for (int done = 0; done < count; ) {
            if (runLeft == 0) {
                startRun();
            }
            int step = (int) Math.min(runLeft, count - done);
            if (packed) {
                unpack(into, done, step);
            } else {
                Arrays.fill(into, done, done + step, value);
            }
            runLeft -= step;
            done += step;
        }
    }

    @Override
    public boolean areAll(int level, int count) {
        if (runLeft == 0 && count > 0) {
            startRun();
        }
        return !packed && value == level && runLeft >= count;
    }

    private void startRun() {
        // Numbers of width 0 are all 0: writers omit their bits, and some omit the runs too.
        if (bits == 0 && in.left() == 0) {
            packed = false;
            value = 0;
            runLeft = Long.MAX_VALUE;
            return;
        }
        long head = in.varint(called);
        packed = (head & 1) == 1;
        runLeft = head >>> 1;
        if (!packed) {
            value = 0;
            for (int shift = 0; shift < bits; shift += 8) {
                value |= in.u8(called) << shift;
            }
            if ((value & ~mask) != 0) {
                throw new CodecException(called + ": the value " + (value & 0xFFFFFFFFL) + " of " + bits + " bits");
            }
            return;
        }
        // The last group may be cut where no values are left; what is read of it is checked when it is read.
        long groups = Math.min(runLeft, Integer.MAX_VALUE);
        runLeft = groups * GROUP;
        long bytes = Math.min(groups * bits, in.left());
        packedStart = in.take(bytes, called);
        packedBit = 0;
        if (bits > 0) {
            runLeft = Math.min(runLeft, bytes * 8 / bits);
        }
        if (runLeft == 0 && groups > 0) {
            throw new CodecException(called + ": the end of their bytes within a run");
        }
    }

    private void unpack(int[] into, int from, int count) {
        long bit = packedBit;
        int end = from + count;
        int i = from;
        if (bits <= FOUR_BITS) {
            for (; i + 4 <= end; i += 4, bit += 4L * bits) {
                long four = in.segment.get(LittleEndian.I64, packedStart + (bit >>> 3)) >>> (bit & 7);
                into[i] = (int) four & mask;
                into[i + 1] = (int) (four >>> bits) & mask;
                into[i + 2] = (int) (four >>> 2 * bits) & mask;
                into[i + 3] = (int) (four >>> 3 * bits) & mask;
            }
        } else if (bits <= TWO_BITS) {
            for (; i + 2 <= end; i += 2, bit += 2L * bits) {
                long two = in.segment.get(LittleEndian.I64, packedStart + (bit >>> 3)) >>> (bit & 7);
                into[i] = (int) two & mask;
                into[i + 1] = (int) (two >>> bits) & mask;
            }
        }
        for (; i < end; i++) {
            into[i] = (int) PageBytes.bits(in.segment, packedStart, bit, mask & 0xFFFFFFFFL);
            bit += bits;
        }
        packedBit = bit;
    }
}
