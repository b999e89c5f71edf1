// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.codec.CodecException;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;

/**
 * A run of a page's bytes that is read from its start to its end.
 *
 * <p>There are {@link #SLACK_BYTES} behind every page that belong to it, so that numbers of any width of bits can be
 * read 8 bytes at a time up to the last one.
 */
final class PageBytes {

    /** Bytes behind a page that may be read. */
    static final int SLACK_BYTES = 8;

    final MemorySegment segment;
    final long end;
    long at;

    PageBytes(MemorySegment segment, long start, long end) {
        this.segment = segment;
        this.at = start;
        this.end = end;
    }

    /** The bytes that are left. */
    long left() {
        return end - at;
    }

    /** Takes some bytes off the front; gives where they start. */
    long take(long bytes, String called) throws CodecException {
        if (bytes < 0 || bytes > end - at) {
            throw new CodecException(called + ": " + bytes + " bytes, where " + (end - at) + " are left");
        }
        long start = at;
        at += bytes;
        return start;
    }

    /** Takes some bytes off the front, as a run of their own. */
    PageBytes part(long bytes, String called) throws CodecException {
        long start = take(bytes, called);
        return new PageBytes(segment, start, start + bytes);
    }

    /** What is left, which this goes on to read by itself. */
    PageBytes rest() {
        return new PageBytes(segment, at, end);
    }

    int u8(String called) throws CodecException {
        return segment.get(JAVA_BYTE, take(1, called)) & 0xFF;
    }

    int i32(String called) throws CodecException {
        return segment.get(LittleEndian.I32, take(Integer.BYTES, called));
    }

    /** A number as ULEB128. */
    long varint(String called) throws CodecException {
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

    /** A number as ULEB128, the sign in its lowest bit. */
    long zigzag(String called) throws CodecException {
        long value = varint(called);
        return value >>> 1 ^ -(value & 1);
    }

    /** A number of up to 57 bits at a bit behind a byte, the lowest bit first. */
    static long bits(MemorySegment segment, long start, long bit, long mask) {
        return segment.get(LittleEndian.I64, start + (bit >>> 3)) >>> (bit & 7) & mask;
    }
}
