// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec.decoder;

import io.penstock.error.CodecException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Decodes gzip members from pieces of any size, and checks every header and trailer field:
 *
 * <pre>{@code
 *  0 1f 8b | 2 u8 method, 8 is deflate | 3 u8 flags | 4 u32 time | 8 u8 effort | 9 u8 system
 * 10 flag 4: u16 length, then its bytes | flag 8: name, 0 | flag 16: comment, 0 | flag 2: u16 CRC-32 of the header
 *  … deflated data | u32 CRC-32 of the decoded data | u32 its size, modulo 2^32
 * }</pre>
 *
 * <p>For one thread.
 */
final class GzipMembers implements AutoCloseable {

    @FunctionalInterface
    interface Source {

        /** Returns the next bytes, none at the end. They stay unchanged until the next call. */
        ByteBuffer next() throws IOException;
    }

    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);
    private static final int MAGIC = 0x8b1f;
    private static final int DEFLATED = 8;
    private static final int FLAG_CHECKSUM = 2;
    private static final int FLAG_EXTRA = 4;
    private static final int FLAG_NAME = 8;
    private static final int FLAG_COMMENT = 16;
    private static final int FLAGS_RESERVED = 0xE0;
    /** Time, effort and system, which are ignored. */
    private static final int UNUSED_BYTES = 6;
    /** No file name or useful comment is longer. */
    private static final int MAX_TEXT_BYTES = 64 << 10;

    private final Source source;
    private final Inflater inflater = new Inflater(true);
    /** The checksum of a header while one is read, then of its member's decoded data. */
    private final CRC32 crc = new CRC32();
    private ByteBuffer in = EMPTY;
    private long inStart;
    private long unpacked;
    private boolean first = true;
    private boolean inMember;
    private boolean ended;

    GzipMembers(Source source) {
        this.source = source;
    }

    long offset() {
        return inStart + in.position();
    }

    /** Decodes at least one byte into a buffer's remaining space; returns the number of bytes, or -1 at the end. */
    int read(ByteBuffer target) throws IOException {
        while (!ended) {
            if (!inMember && !header()) {
                ended = true;
                break;
            }
            int start = target.position();
            int read = inflate(target);
            crc.update(target.duplicate().position(start).limit(start + read));
            unpacked += read;
            if (inflater.finished()) {
                trailer();
            }
            if (read > 0) {
                return read;
            }
        }
        return -1;
    }

    private int inflate(ByteBuffer target) throws IOException {
        try {
            int read = inflater.inflate(target);
            while (read == 0 && !inflater.finished()) {
                if (inflater.needsDictionary()) {
                    throw malformed("a preset dictionary", "none, which gzip does not have");
                }
                if (!fill()) {
                    throw cut("a member's data");
                }
                inflater.setInput(in);
                read = inflater.inflate(target);
            }
            return read;
        } catch (DataFormatException e) {
            throw malformed("malformed data" + (e.getMessage() == null ? "" : " (" + e.getMessage() + ")"),
                    "deflated data");
        }
    }

    /** Reads a member's header; returns false at the end. */
    private boolean header() throws IOException {
        if (!first && !skipZeros()) {
            return false;
        }
        long at = offset();
        crc.reset();
        int magic = u16("a header");
        if (magic != MAGIC) {
            throw malformed(at, String.format(Locale.ROOT, "the bytes %02x %02x", magic & 0xFF, magic >> 8)
                    + (first ? ""
                    : " after a member"), "1f 8b, a member" + (first ? "" : "; or zeros, or the end"));
        }
        int method = next("a header");
        if (method != DEFLATED) {
            throw malformed(at + 2, "the method " + method, DEFLATED + " (deflate)");
        }
        int flags = next("a header");
        if ((flags & FLAGS_RESERVED) != 0) {
            throw malformed(at + 3, String.format(Locale.ROOT, "the flags %02x", flags), "the upper three to be 0");
        }
        skip(UNUSED_BYTES);
        if ((flags & FLAG_EXTRA) != 0) {
            skip(u16("a header"));
        }
        if ((flags & FLAG_NAME) != 0) {
            skipText("name");
        }
        if ((flags & FLAG_COMMENT) != 0) {
            skipText("comment");
        }
        if ((flags & FLAG_CHECKSUM) != 0) {
            int expected = (int) crc.getValue() & 0xFFFF;
            long checksumAt = offset();
            int found = u16("a header");
            if (found != expected) {
                throw malformed(checksumAt, String.format(Locale.ROOT, "the header's checksum %04x", found),
                        String.format(Locale.ROOT, "%04x", expected));
            }
        }
        crc.reset();
        inflater.reset();
        inflater.setInput(in);
        first = false;
        inMember = true;
        return true;
    }

    private boolean skipZeros() throws IOException {
        while (in.hasRemaining() || fill()) {
            if (in.get(in.position()) != 0) {
                return true;
            }
            in.get();
        }
        return false;
    }

    private void skip(int bytes) throws IOException {
        for (int i = 0; i < bytes; i++) {
            next("a header");
        }
    }

    private void skipText(String what) throws IOException {
        long start = offset();
        while (next("a header") != 0) {
            if (offset() - start > MAX_TEXT_BYTES) {
                throw malformed(start, "a " + what + " of more than " + MAX_TEXT_BYTES + " bytes", "a zero after it");
            }
        }
    }

    private void trailer() throws IOException {
        long expected = crc.getValue();
        long at = offset();
        long checksum = u32();
        if (checksum != expected) {
            throw malformed(at, String.format(Locale.ROOT, "the CRC-32 %08x", checksum),
                    String.format(Locale.ROOT, "%08x, that of the member's data", expected));
        }
        long size = u32();
        long expectedSize = inflater.getBytesWritten() & 0xFFFF_FFFFL;
        if (size != expectedSize) {
            throw malformed(at + Integer.BYTES, "the size " + size, expectedSize
                    + ", that of the member's data (modulo 2^32)");
        }
        inMember = false;
    }

    private long u32() throws IOException {
        return u16("a trailer") | (long) u16("a trailer") << 16;
    }

    private int u16(String what) throws IOException {
        return next(what) | next(what) << 8;
    }

    private int next(String what) throws IOException {
        if (!in.hasRemaining() && !fill()) {
            throw cut(what);
        }
        byte value = in.get();
        crc.update(value);
        return value & 0xFF;
    }

    private boolean fill() throws IOException {
        inStart += in.limit();
        in = EMPTY; // so that the place is right if the source fails
        in = source.next();
        return in.hasRemaining();
    }

    private CodecException malformed(String found, String expected) {
        return malformed(offset(), found, expected);
    }

    private CodecException malformed(long at, String found, String expected) {
        return new CodecException("gzip: at byte " + at + ": found " + found + ", expected " + expected + said());
    }

    private CodecException cut(String where) {
        return new CodecException("gzip: at byte " + offset() + ": the data is cut: it ends within " + where + said());
    }

    /** Describes the progress, which shows how much of a file can be recovered. */
    private String said() {
        return " (after " + unpacked + " unpacked bytes)";
    }

    @Override
    public void close() {
        inflater.end();
    }
}
