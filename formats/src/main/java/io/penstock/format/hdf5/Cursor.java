// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.MalformedStoreException;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Reads a structure of a file field by field, never beyond its end. */
final class Cursor {

    private static final long MAX_NAME_BYTES = 64 << 10;

    private final AddressSpace space;
    private final MemorySegment segment;
    private final long start;
    private final long end;
    private final String what;
    private long at;

    Cursor(AddressSpace space, long start, long end, String what) {
        this.space = space;
        this.segment = space.file().mapping();
        this.start = start;
        this.end = end;
        this.what = what;
        this.at = start;
    }

    long position() {
        return at;
    }

    long remaining() {
        return end - at;
    }

    int u8() {
        return segment.get(JAVA_BYTE, take(1)) & 0xFF;
    }

    int u16() {
        return segment.get(LittleEndian.I16, take(2)) & 0xFFFF;
    }

    long u32() {
        return segment.get(LittleEndian.I32, take(4)) & 0xFFFF_FFFFL;
    }

    int i32() {
        return segment.get(LittleEndian.I32, take(4));
    }

    /** Reads a number of 1 to 8 bytes; from 2^63 on it is negative. */
    long number(int bytes) {
        long from = take(bytes);
        long value = 0;
        for (int i = bytes - 1; i >= 0; i--) {
            value = value << 8 | segment.get(JAVA_BYTE, from + i) & 0xFF;
        }
        return value;
    }

    long address() {
        long value = number(space.addressBytes());
        int bits = 8 * space.addressBytes();
        return bits < Long.SIZE && value == (1L << bits) - 1 ? AddressSpace.UNDEFINED : value;
    }

    /** Reads a number of the size of lengths; all ones are -1. */
    long lengthOrAll() {
        long value = number(space.lengthBytes());
        int bits = 8 * space.lengthBytes();
        return bits < Long.SIZE && value == (1L << bits) - 1 ? -1 : value;
    }

    /** Reads a length, a size or a count. */
    long length() {
        return notNegative(lengthOrAll());
    }

    /** Checks that a number is below 2^63. */
    long notNegative(long value) {
        if (value < 0) {
            throw malformed("the number " + Long.toUnsignedString(value), "one below 2^63");
        }
        return value;
    }

    Cursor skip(long bytes) {
        take(bytes);
        return this;
    }

    /** Skips to the next multiple of a number of bytes from the start of the structure. */
    void align(int bytes) {
        skip(Math.min(remaining(), -(at - start) & bytes - 1));
    }

    Cursor part(long bytes, String partName) {
        long from = take(bytes);
        return new Cursor(space, from, from + bytes, partName);
    }

    byte[] bytes(long count) {
        if (count > Integer.MAX_VALUE - 8) {
            throw malformed(count + " bytes", "less than 2 GiB");
        }
        long from = take(count);
        byte[] bytes = new byte[(int) count];
        MemorySegment.copy(segment, JAVA_BYTE, from, bytes, 0, bytes.length);
        return bytes;
    }

    /** Reads a text of a given size. */
    String text(long bytes) {
        if (bytes > MAX_NAME_BYTES) {
            throw malformed("a name of " + bytes + " bytes", "at most " + MAX_NAME_BYTES);
        }
        return textOf(bytes(bytes));
    }

    /** Decodes UTF-8, or Latin-1 if it is not: different bytes are different texts. */
    static String textOf(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException _) {
            return new String(bytes, StandardCharsets.ISO_8859_1);
        }
    }

    String terminated() {
        long zero = at;
        space.file().require(at, Math.min(end - at, MAX_NAME_BYTES + 1));
        while (zero < end && zero - at < MAX_NAME_BYTES && segment.get(JAVA_BYTE, zero) != 0) {
            zero++;
        }
        if (zero == end || segment.get(JAVA_BYTE, zero) != 0) {
            throw malformed("an unterminated name", "a zero byte after at most " + MAX_NAME_BYTES + " others");
        }
        space.spend(zero - at, what);
        String text = text(zero - at);
        skip(1);
        return text;
    }

    Cursor signature(String four) {
        long from = at;
        byte[] found = bytes(four.length());
        if (!new String(found, StandardCharsets.ISO_8859_1).equals(four)) {
            throw space.malformed(from, what + " without its signature", "'" + four + "'");
        }
        return this;
    }

    Cursor version(int least, int most) {
        versionOf(least, most);
        return this;
    }

    int versionOf(int least, int most) {
        long from = at;
        int version = u8();
        if (version < least || version > most) {
            throw space.malformed(from, "version " + version + " of " + what,
                    least == most ? Integer.toString(least) : least + " to " + most);
        }
        return version;
    }

    /** Reads and checks a checksum of the structure from its start to here. */
    Cursor checksum() {
        space.file().require(start, at - start);
        int found = Lookup3.hash(segment, start, at - start);
        long from = at;
        compare(from, i32(), found);
        return this;
    }

    /** Reads and checks a checksum of the whole structure, whose own bytes count as zeros. */
    void checksumOfAll() {
        long from = at;
        int stated = i32();
        space.file().require(start, end - start);
        MemorySegment zeroed = MemorySegment.ofArray(segment.asSlice(start, end - start).toArray(JAVA_BYTE));
        zeroed.set(LittleEndian.I32, from - start, 0);
        compare(from, stated, Lookup3.hash(zeroed, 0, zeroed.byteSize()));
    }

    private void compare(long position, int stated, int found) {
        if (found != stated) {
            throw space.malformed(position, String.format(Locale.ROOT, "checksum %08x of ", stated) + what,
                    String.format(Locale.ROOT, "%08x", found));
        }
    }

    MalformedStoreException malformed(String found, String expected) {
        return space.malformed(at, what + ": " + found, expected);
    }

    private long take(long bytes) {
        if (bytes < 0 || bytes > end - at) {
            throw space.malformed(at, what + " that ends at byte " + end, Long.toUnsignedString(bytes) + " more");
        }
        long from = at;
        at += bytes;
        space.file().require(from, bytes);
        return from;
    }
}
