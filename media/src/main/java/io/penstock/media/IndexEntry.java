// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.penstock.error.CodecException;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** What entries of an index have in common: their header, and how numbers are written. For one thread. */
abstract sealed class IndexEntry permits PacketTable, SoundTable {

    static final int DIGEST = 8;
    static final int DIGEST_BYTES = 32;
    private static final int STATE = 40;
    private static final int CODEC_BYTES = 60;
    private static final int EXTRADATA_BYTES = 64;
    private static final int REASON_BYTES = 68;
    static final int HEADER_BYTES = 76;
    static final int GOOD = 0;
    private static final int BAD = 1;

    long fileBytes;
    private MemorySegment bytes = MemorySegment.NULL;
    private long entry;
    private long at;
    private long end;

    /** Reads the header of an entry, up to the packets. */
    final void open(MemorySegment index, long offset, long entryBytes) throws CodecException {
        bytes = index;
        entry = offset;
        at = offset;
        end = offset + entryBytes;
        require(HEADER_BYTES);
        fileBytes = index.get(JAVA_LONG_UNALIGNED, offset);
        long texts = HEADER_BYTES + (long) length(CODEC_BYTES) + length(EXTRADATA_BYTES);
        require(texts + length(REASON_BYTES));
        if (i32(STATE) != GOOD) {
            String reason = text(texts, i32(REASON_BYTES));
            throw new CodecException(reason.isEmpty() ? "a file that could not be used" : reason);
        }
        at = offset + texts;
    }

    /** The extradata of the entry that was loaded: its first byte in the index, and its size. */
    final long extradataOffset(long offset) {
        return offset + HEADER_BYTES + bytes.get(JAVA_INT_UNALIGNED, offset + CODEC_BYTES);
    }

    final int extradataBytes(long offset) {
        return bytes.get(JAVA_INT_UNALIGNED, offset + EXTRADATA_BYTES);
    }

    /** The name of the codec of the entry that was loaded: an object for each call. */
    final String codec(long offset) {
        byte[] name = new byte[bytes.get(JAVA_INT_UNALIGNED, offset + CODEC_BYTES)];
        MemorySegment.copy(bytes, JAVA_BYTE, offset + HEADER_BYTES, name, 0, name.length);
        return new String(name, StandardCharsets.US_ASCII);
    }

    final int i32(int field) {
        return bytes.get(JAVA_INT_UNALIGNED, entry + field);
    }

    private int length(int field) throws CodecException {
        int length = i32(field);
        if (length < 0) {
            throw new CodecException("a length of " + length, "0 or more");
        }
        return length;
    }

    private String text(long from, int length) {
        byte[] text = new byte[length];
        MemorySegment.copy(bytes, JAVA_BYTE, entry + from, text, 0, length);
        return new String(text, StandardCharsets.UTF_8);
    }

    private void require(long count) throws CodecException {
        if (end - at < count) {
            throw new CodecException("an index that ends early", count + " bytes more");
        }
    }

    final long varint() throws CodecException {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            if (at >= end) {
                throw new CodecException("an index that ends early", "packets");
            }
            byte b = bytes.get(JAVA_BYTE, at++);
            value |= (long) (b & 0x7F) << shift;
            if (b >= 0) {
                return value;
            }
        }
        throw new CodecException("a number of over ten bytes", "one of 64 bits");
    }

    final long signed() throws CodecException {
        long value = varint();
        return value >>> 1 ^ -(value & 1);
    }

    /** Encodes an entry of a file that cannot be used. */
    static byte[] refusal(long fileBytes, byte[] digest, String reason) {
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        var out = new ByteArrayOutputStream();
        out.writeBytes(header(fileBytes, digest, BAD, 1, 1, 0, 0, 0, 0, text.length, 0));
        out.writeBytes(text);
        return out.toByteArray();
    }

    /** The header: sizes of file and digest, then the state and eight numbers. */
    static byte[] header(long fileBytes, byte[] digest, int... numbers) {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(fileBytes)
                .put(digest);
        for (int number : numbers) {
            header.putInt(number);
        }
        return header.array();
    }

    static void put(ByteArrayOutputStream out, long value) {
        long left = value;
        while ((left & ~0x7F) != 0) {
            out.write((int) (left & 0x7F | 0x80));
            left >>>= 7;
        }
        out.write((int) left);
    }

    static void putSigned(ByteArrayOutputStream out, long value) {
        put(out, value << 1 ^ value >> 63);
    }
}
