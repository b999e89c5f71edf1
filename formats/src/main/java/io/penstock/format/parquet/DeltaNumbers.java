// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import io.penstock.memory.LittleEndian;

/**
 * Reads integers that are stored as differences. The head has, as varints, the values per block, the miniblocks per
 * block, the number of values, and (zigzag) the first value. A block has (zigzag) its least difference, a byte with the
 * bit width of each miniblock, and the miniblocks: the differences less the least one. Source: {@code Encodings.md} of
 * apache/parquet-format, encoding DELTA_BINARY_PACKED.
 */
final class DeltaNumbers {

    private static final String CALLED = "differences";
    private static final int MAX_BLOCK_VALUES = 1 << 20;
    private static final int MINIBLOCK_UNIT = 8;
    /** The most bits that one read of 8 bytes has from any bit on. */
    private static final int BITS_IN_A_READ = 57;

    private final PageBytes in;
    private final int miniblocks;
    private final int miniblockValues;
    private final long count;
    private long valuesLeft;
    private long last;
    private boolean firstGiven;
    private long leastDelta;
    private long widthsAt;
    private int miniblock;
    private int inMiniblock;
    private int width;
    private long packedStart;
    private long packedBit;

    DeltaNumbers(PageBytes in) {
        this.in = in;
        long blockValues = in.varint(CALLED);
        long perBlock = in.varint(CALLED);
        this.count = in.varint(CALLED);
        this.last = in.zigzag(CALLED);
        if (blockValues <= 0 || blockValues > MAX_BLOCK_VALUES || perBlock <= 0 || perBlock > blockValues
                || blockValues % perBlock != 0 || blockValues / perBlock % MINIBLOCK_UNIT != 0 || count < 0) {
            throw new CodecException(CALLED + ": " + count + " values in blocks of " + blockValues + " and "
                    + perBlock + " miniblocks");
        }
        this.miniblocks = (int) perBlock;
        this.miniblockValues = (int) (blockValues / perBlock);
        this.miniblock = miniblocks;
        this.valuesLeft = count;
    }

    long count() {
        return count;
    }

    void read(long[] into, int values) {
        if (values > valuesLeft) {
            throw new CodecException(CALLED + ": " + count + " values, where the page has more");
        }
        int i = 0;
        if (!firstGiven && values > 0) {
            firstGiven = true;
            into[i++] = last;
        }
        while (i < values) {
            if (inMiniblock == 0) {
                startMiniblock();
            }
            int step = Math.min(inMiniblock, values - i);
            unpack(into, i, step);
            inMiniblock -= step;
            i += step;
        }
        valuesLeft -= values;
    }

    /** Skips all values that were not read, and the padding of the last miniblock. */
    void skipRest() {
        long[] ignored = new long[miniblockValues];
        while (valuesLeft > 0) {
            read(ignored, (int) Math.min(miniblockValues, valuesLeft));
        }
    }

    private void startMiniblock() {
        if (miniblock == miniblocks) {
            leastDelta = in.zigzag(CALLED);
            widthsAt = in.take(miniblocks, CALLED);
            miniblock = 0;
        }
        width = in.segment.get(JAVA_BYTE, widthsAt + miniblock) & 0xFF;
        if (width > Long.SIZE) {
            throw new CodecException(CALLED + " of " + width + " bits");
        }
        packedStart = in.take((long) miniblockValues / 8 * width, CALLED);
        packedBit = 0;
        miniblock++;
        inMiniblock = miniblockValues;
    }

    private void unpack(long[] into, int from, int count) {
        long value = last;
        long bit = packedBit;
        long mask = width == 0 ? 0 : -1L >>> Long.SIZE - width;
        for (int i = from; i < from + count; i++, bit += width) {
            value += leastDelta + (width <= BITS_IN_A_READ ? PageBytes.bits(in.segment, packedStart, bit, mask)
                    : wide(bit) & mask);
            into[i] = value;
        }
        packedBit = bit;
        last = value;
    }

    /** Returns the 64 bits at a bit, which may reach into a ninth byte. */
    private long wide(long bit) {
        long at = packedStart + (bit >>> 3);
        int shift = (int) (bit & 7);
        long low = in.segment.get(LittleEndian.I64, at) >>> shift;
        return shift == 0 ? low : low | (in.segment.get(JAVA_BYTE, at + Long.BYTES) & 0xFFL) << Long.SIZE - shift;
    }
}
