// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;
import static io.penstock.memory.LittleEndian.I64;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import java.lang.foreign.MemorySegment;

/**
 * Decodes Snappy's raw, unframed block format, as used in Parquet's pages and Avro's blocks.
 *
 * <p>A block is the decoded size as a varint, then elements. The two low bits of each element's tag byte give its kind:
 *
 * <pre>
 *   00  a literal      length − 1 in the upper 6 bits; 60 to 63 stand for 1 to 4 bytes of length − 1 that follow
 *   01  a short copy   length − 4 in bits 2..4, offset in bits 5..7 (high) and the next byte (low)
 *   10  a copy         length − 1 in the upper 6 bits, offset in the 2 bytes that follow
 *   11  a far copy     length − 1 in the upper 6 bits, offset in the 4 bytes that follow
 * </pre>
 *
 * <p>A copy repeats the bytes decoded {@code offset} bytes earlier and may overlap its output. Source:
 * {@code format_description.txt} of google/snappy.
 */
public final class Snappy {

    /** The greatest expansion of a block: a copy of 64 bytes takes 3, a ratio below this. */
    public static final int MAX_EXPANSION = 22;

    /** The longest literal with its length in the tag. */
    private static final int TAG_LITERAL = 60;
    private static final int VARINT_BYTES = 5;
    private static final int STEP = Long.BYTES;

    /** Decodes a block to exactly the size of the target, which must not overlap the source. */
    public static void decompress(MemorySegment source, MemorySegment target) {
        long sourceEnd = source.byteSize();
        long targetEnd = target.byteSize();
        long in = elementsStart(source, targetEnd);
        long out = 0;
        while (in < sourceEnd) {
            int tag = source.get(JAVA_BYTE, in++) & 0xFF;
            long length;
            long offset;
            switch (tag & 3) {
                case 0 -> {
                    length = (tag >>> 2) + 1;
                    if (length > TAG_LITERAL) {
                        int lengthBytes = (int) (length - TAG_LITERAL);
                        need(lengthBytes, sourceEnd - in);
                        length = littleEndian(source, in, lengthBytes) + 1;
                        in += lengthBytes;
                    }
                    need(length, sourceEnd - in);
                    room(length, targetEnd - out);
                    if (length <= 2 * STEP && sourceEnd - in >= 2 * STEP && targetEnd - out >= 2 * STEP) {
                        target.set(I64, out, source.get(I64, in));
                        target.set(I64, out + STEP, source.get(I64, in + STEP));
                    } else {
                        MemorySegment.copy(source, in, target, out, length);
                    }
                    in += length;
                    out += length;
                    continue;
                }
                case 1 -> {
                    need(1, sourceEnd - in);
                    length = (tag >>> 2 & 7) + 4;
                    offset = (tag >>> 5) << 8 | source.get(JAVA_BYTE, in) & 0xFF;
                    in++;
                }
                case 2 -> {
                    need(2, sourceEnd - in);
                    length = (tag >>> 2) + 1;
                    offset = source.get(I16, in) & 0xFFFF;
                    in += 2;
                }
                default -> {
                    need(4, sourceEnd - in);
                    length = (tag >>> 2) + 1;
                    offset = source.get(I32, in) & 0xFFFFFFFFL;
                    in += 4;
                }
            }
            if (offset == 0 || offset > out) {
                throw new CodecException("snappy: a copy from " + offset + " bytes back, where " + out
                        + " bytes are decoded");
            }
            room(length, targetEnd - out);
            repeat(target, out, offset, length, targetEnd);
            out += length;
        }
        if (out != targetEnd) {
            throw new CodecException("snappy: the block ends after " + out + " bytes of " + targetEnd);
        }
    }

    /** Checks the decoded size at the block's start, and returns the offset of the elements. */
    private static long elementsStart(MemorySegment source, long expected) {
        long size = 0;
        for (int i = 0; i < VARINT_BYTES && i < source.byteSize(); i++) {
            int part = source.get(JAVA_BYTE, i);
            size |= (long) (part & 0x7F) << 7 * i;
            if (part >= 0) {
                if (size != expected) {
                    throw new CodecException("snappy: the block decodes to " + size + " bytes, expected " + expected);
                }
                return i + 1;
            }
        }
        throw new CodecException("snappy: the block's size is not a whole varint");
    }

    /**
     * Repeats bytes of the target. If source and target are 8 bytes apart or more, it copies 8 bytes at a time and may
     * write up to 7 too many, which later elements overwrite.
     */
    private static void repeat(MemorySegment target, long out, long offset, long length, long targetEnd) {
        long from = out - offset;
        if (offset >= STEP && targetEnd - out - length >= STEP) {
            for (long i = 0; i < length; i += STEP) {
                target.set(I64, out + i, target.get(I64, from + i));
            }
        } else if (offset == 1) {
            target.asSlice(out, length).fill(target.get(JAVA_BYTE, from));
        } else {
            for (long i = 0; i < length; i++) {
                target.set(JAVA_BYTE, out + i, target.get(JAVA_BYTE, from + i));
            }
        }
    }

    private static long littleEndian(MemorySegment source, long at, int bytes) {
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value |= (source.get(JAVA_BYTE, at + i) & 0xFFL) << 8 * i;
        }
        return value;
    }

    private static void need(long bytes, long left) {
        if (bytes > left) {
            throw new CodecException("snappy: the block ends within an element: " + left + " bytes left, expected "
                    + bytes);
        }
    }

    private static void room(long bytes, long left) {
        if (bytes > left) {
            throw new CodecException("snappy: the block decodes to more than its size: an element of " + bytes
                    + " bytes, " + left + " left");
        }
    }
}
