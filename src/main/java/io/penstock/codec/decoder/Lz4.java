// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;
import static io.penstock.memory.LittleEndian.I64;

import io.penstock.error.CodecException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Decodes LZ4 frames with all features except dictionaries, and bare blocks, without a library.
 *
 * <p>A block is a series of sequences:
 *
 * <pre>
 *   u8    token: number of literals in the upper 4 bits, length of the match less 4 in the lower ones;
 *         15 says that bytes follow which are added, up to and including the first that is not 255
 *   ...   the literals
 *   u16   distance back to the match, which may overlap its output. The last sequence has none
 * </pre>
 *
 * @see <a href="https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md">LZ4 Block Format</a>
 * @see <a href="https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md">LZ4 Frame Format</a>
 */
public final class Lz4 {

    /** The greatest expansion: a byte of a match's length stands for up to 255 bytes. */
    public static final int MAX_EXPANSION = 255;

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    /** Eight bytes are copied unchanged, so the byte order does not matter. */
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;

    private static final int FRAME_MAGIC = 0x184D2204;
    private static final int SKIPPABLE_MAGIC = 0x184D2A50;
    private static final int SKIPPABLE_MASK = 0xFFFFFFF0;

    private static final int INDEPENDENT = 1 << 5;
    private static final int BLOCK_CHECKSUM = 1 << 4;
    private static final int CONTENT_SIZE = 1 << 3;
    private static final int CONTENT_CHECKSUM = 1 << 2;
    private static final int RESERVED = 1 << 1;
    private static final int DICTIONARY = 1;
    private static final int STORED = 1 << 31;

    private static final int LENGTH_FOLLOWS = 15;
    private static final int MIN_MATCH = 4;
    /** Up to this size, copying whole words is faster than a call. */
    private static final int SHORT_BYTES = 64;
    private static final int WORD_BYTES = 8;

    private final MemorySegment source;
    private final MemorySegment target;
    private long in;
    private long out;

    private Lz4(MemorySegment source, MemorySegment target) {
        this.source = source;
        this.target = target;
    }

    /** Decodes one or more whole frames to exactly the target's size, and verifies their checksums. */
    public static void decompress(MemorySegment source, MemorySegment target) {
        Lz4 lz4 = new Lz4(source, target);
        do {
            lz4.frame();
        } while (lz4.in < source.byteSize());
        lz4.checkWhole();
    }

    /** Decodes a block without a frame around it, to exactly the target's size. */
    public static void decompressBlock(MemorySegment source, MemorySegment target) {
        Lz4 lz4 = new Lz4(source, target);
        lz4.block(source.byteSize(), 0, target.byteSize());
        lz4.checkWhole();
    }

    private void checkWhole() {
        if (out != target.byteSize()) {
            throw new CodecException("lz4: the data decode to " + out + " bytes, expected " + target.byteSize());
        }
    }

    private void need(long bytes) {
        if (bytes > source.byteSize() - in) {
            throw new CodecException("lz4: the data end after " + source.byteSize() + " bytes, expected " + bytes
                    + " more from byte " + in);
        }
    }

    private int u32() {
        need(Integer.BYTES);
        int value = source.get(I32, in);
        in += Integer.BYTES;
        return value;
    }

    private void frame() {
        long start = in;
        int magic = u32();
        if ((magic & SKIPPABLE_MASK) == SKIPPABLE_MAGIC) {
            long skipped = Integer.toUnsignedLong(u32());
            need(skipped);
            in += skipped;
            return;
        }
        if (magic != FRAME_MAGIC) {
            throw new CodecException("lz4: at byte " + start + ": found magic 0x" + Integer.toHexString(magic)
                    + ", expected 0x" + Integer.toHexString(FRAME_MAGIC));
        }
        need(2);
        int flags = source.get(BYTE, in);
        int sizeCode = source.get(BYTE, in + 1);
        if ((flags & 0xC0) != 0x40 || (flags & (RESERVED | DICTIONARY)) != 0 || (sizeCode & 0x8F) != 0
                || sizeCode >> 4 < 4) {
            throw new CodecException("lz4: a frame with flags 0x" + Integer.toHexString(flags & 0xFF) + ", 0x"
                    + Integer.toHexString(sizeCode & 0xFF) + ", expected version 1 without a dictionary");
        }
        long descriptorBytes = 2 + ((flags & CONTENT_SIZE) != 0 ? Long.BYTES : 0);
        need(descriptorBytes + 1);
        long contentBytes = (flags & CONTENT_SIZE) == 0 ? -1 : source.get(I64, in + 2);
        check("the frame's header", XxHash32.hash(source, in, descriptorBytes) >>> 8 & 0xFF,
                source.get(BYTE, in + descriptorBytes) & 0xFF);
        in += descriptorBytes + 1;
        long first = out;
        blocks(flags, 1L << 2 * (sizeCode >> 4) + 8);
        if (contentBytes >= 0 && contentBytes != out - first || contentBytes < -1) {
            throw new CodecException("lz4: a frame of " + (out - first) + " bytes, expected " + contentBytes
                    + " as its header says");
        }
        if ((flags & CONTENT_CHECKSUM) != 0) {
            check("the content", XxHash32.hash(target, first, out - first), u32());
        }
    }

    private void blocks(int flags, long maxBlockBytes) {
        long first = out;
        for (int size = u32(); size != 0; size = u32()) {
            long bytes = size & ~STORED;
            need(bytes);
            long start = in;
            long end = Math.min(target.byteSize(), out + maxBlockBytes);
            if ((size & STORED) == 0) {
                block(in + bytes, (flags & INDEPENDENT) != 0 ? out : first, end);
            } else {
                if (bytes > end - out) {
                    throw tooLong(end);
                }
                MemorySegment.copy(source, in, target, out, bytes);
                in += bytes;
                out += bytes;
            }
            if ((flags & BLOCK_CHECKSUM) != 0) {
                check("the block at byte " + start, XxHash32.hash(source, start, bytes), u32());
            }
        }
    }

    private static void check(String what, int found, int expected) {
        if (found != expected) {
            throw new CodecException("lz4: the checksum of " + what + " is 0x" + Integer.toHexString(found)
                    + ", expected 0x" + Integer.toHexString(expected));
        }
    }

    /**
     * Decodes the block that ends before {@code inEnd} to at most {@code outEnd}; its matches start at {@code window}
     * or later. Short runs are copied by words, which may write some bytes too many. Later bytes overwrite those, or
     * they are outside the output; they never reach past {@code outEnd}.
     */
    private void block(long inEnd, long window, long outEnd) {
        MemorySegment from = source;
        MemorySegment to = target;
        long s = in;
        long d = out;
        while (true) {
            if (s >= inEnd) {
                throw cut(s);
            }
            int token = from.get(BYTE, s++);
            long literals = token >>> 4 & 0xF;
            if (literals == LENGTH_FOLLOWS) {
                int more;
                do {
                    if (s >= inEnd) {
                        throw cut(s);
                    }
                    more = from.get(BYTE, s++) & 0xFF;
                    literals += more;
                } while (more == 0xFF);
            }
            if (literals <= 2 * WORD_BYTES && s + 2 * WORD_BYTES <= inEnd && d + 2 * WORD_BYTES <= outEnd) {
                to.set(WORD, d, from.get(WORD, s));
                to.set(WORD, d + WORD_BYTES, from.get(WORD, s + WORD_BYTES));
            } else if (literals > inEnd - s) {
                throw cut(s);
            } else if (literals > outEnd - d) {
                throw tooLong(outEnd);
            } else {
                MemorySegment.copy(from, s, to, d, literals);
            }
            s += literals;
            d += literals;
            if (s == inEnd) {
                break;
            }
            if (inEnd - s < Short.BYTES) {
                throw cut(s);
            }
            int distance = Short.toUnsignedInt(from.get(I16, s));
            s += Short.BYTES;
            if (distance == 0 || distance > d - window) {
                throw new CodecException("lz4: at byte " + (s - Short.BYTES) + ": a match " + distance
                        + " bytes back, expected 1 to " + (d - window));
            }
            long length = (token & 0xF) + MIN_MATCH;
            if (length == LENGTH_FOLLOWS + MIN_MATCH) {
                int more;
                do {
                    if (s >= inEnd) {
                        throw cut(s);
                    }
                    more = from.get(BYTE, s++) & 0xFF;
                    length += more;
                } while (more == 0xFF);
            }
            if (length > outEnd - d) {
                throw tooLong(outEnd);
            }
            if (length <= distance && length > SHORT_BYTES) {
                MemorySegment.copy(to, d - distance, to, d, length);
            } else {
                copyMatch(to, d, distance, length, outEnd);
            }
            d += length;
        }
        in = s;
        out = d;
    }

    /** Copies a match that may overlap its output. */
    private static void copyMatch(MemorySegment to, long d, int distance, long length, long outEnd) {
        long end = d + length;
        if (end + WORD_BYTES > outEnd) {
            for (; d < end; d++) {
                to.set(BYTE, d, to.get(BYTE, d - distance));
            }
            return;
        }
        int back = distance;
        if (distance < WORD_BYTES) {
            // A pattern with a short period also repeats at multiples of it: use one that is far enough apart for a
            // word.
            back = distance * ((WORD_BYTES + distance - 1) / distance);
            for (long near = Math.min(end, d + back - distance); d < near; d++) {
                to.set(BYTE, d, to.get(BYTE, d - distance));
            }
        }
        for (; d < end; d += WORD_BYTES) {
            to.set(WORD, d, to.get(WORD, d - back));
        }
    }

    private CodecException cut(long at) {
        return new CodecException("lz4: a block that ends inside a sequence, at byte " + at);
    }

    private CodecException tooLong(long outEnd) {
        return new CodecException("lz4: a block decodes to more than fits: byte " + outEnd + " of "
                + target.byteSize());
    }
}
