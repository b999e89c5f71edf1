// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * A range of a page's bytes, read from start to end.
 *
 * <p>Each page is followed by {@link #SLACK_BYTES} of its own, so that numbers of any bit width can be read 8 bytes at
 * a time.
 */
final class PageBytes {

    static final int SLACK_BYTES = 8;

    final MemorySegment segment;
    final long end;
    long at;

    PageBytes(MemorySegment segment, long start, long end) {
        this.segment = segment;
        this.at = start;
        this.end = end;
    }

    long left() {
        return end - at;
    }

    /** Takes bytes off the front; returns their offset. */
    long take(long bytes, String called) {
        if (bytes < 0 || bytes > end - at) {
            throw new CodecException(called + ": " + bytes + " bytes, where " + (end - at) + " are left");
        }
        long start = at;
        at += bytes;
        return start;
    }

    /** Takes bytes off the front, as a range of their own. */
    PageBytes part(long bytes, String called) {
        long start = take(bytes, called);
        return new PageBytes(segment, start, start + bytes);
    }

    /** Returns what is left as a range of its own; reading here continues independently. */
    PageBytes rest() {
        return new PageBytes(segment, at, end);
    }

    int u8(String called) {
        return segment.get(JAVA_BYTE, take(1, called)) & 0xFF;
    }

    int i32(String called) {
        return segment.get(LittleEndian.I32, take(Integer.BYTES, called));
    }

    long varint(String called) {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            int part = u8(called);
            value |= (long) (part & 0x7F) << shift;
            if (part < 0x80) {
                return value;
            }
        }
        throw new CodecException(called + ": a number of more than 10 bytes");
    }

    /** Reads a ULEB128 number whose lowest bit is the sign. */
    long zigzag(String called) {
        long value = varint(called);
        return value >>> 1 ^ -(value & 1);
    }

    /** Reads a number of up to 57 bits, the lowest bit first. */
    static long bits(MemorySegment segment, long start, long bit, long mask) {
        return segment.get(LittleEndian.I64, start + (bit >>> 3)) >>> (bit & 7) & mask;
    }
}
