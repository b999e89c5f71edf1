// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads structs in Thrift's compact protocol, as Parquet's footer and page headers are written, one value after another
 * and within bounds. A struct is read as
 *
 * <pre>{@code
 * in.beginStruct();
 * while (in.nextField()) {
 *     switch (in.fieldId()) {
 *         case 1 -> version = in.i32();
 *         default -> in.skip();
 *     }
 * }
 * }</pre>
 *
 * <p>Source: {@code doc/specs/thrift-compact-protocol.md} of apache/thrift.
 */
final class ThriftReader {

    /** Types of fields and elements. */
    static final int TRUE = 1;
    static final int FALSE = 2;
    static final int I8 = 3;
    static final int I16 = 4;
    static final int I32 = 5;
    static final int I64 = 6;
    static final int DOUBLE = 7;
    static final int BINARY = 8;
    static final int LIST = 9;
    static final int SET = 10;
    static final int MAP = 11;
    static final int STRUCT = 12;

    private static final int MAX_NESTING = 32;
    private static final int MAX_ELEMENTS = 1_000_000;
    private static final int MAX_STRING_BYTES = 100_000_000;
    private static final int VARINT_BITS = 64;

    private final Location file;
    private final MemorySegment bytes;
    private final long end;
    /** The byte of the file that is the first of the bytes. */
    private final long origin;
    private long at;
    private int type = STRUCT;
    private int fieldId;
    /** For each open struct or container, the id of its field. */
    private final int[] outerIds = new int[MAX_NESTING];
    private int nesting;

    /** Creates a reader of one struct, which ends at {@code end} at the latest. */
    ThriftReader(Location file, MemorySegment bytes, long at, long end) {
        this(file, bytes, 0, at, end);
    }

    /** Creates a reader of one struct in a copy of the file's bytes from {@code origin} on. */
    ThriftReader(Location file, MemorySegment bytes, long origin, long at, long end) {
        this.file = file;
        this.origin = origin;
        this.bytes = bytes;
        this.at = at;
        this.end = end;
    }

    long position() {
        return at;
    }

    void beginStruct() {
        expect(STRUCT, "a struct");
        enter();
        fieldId = 0;
    }

    private void enter() {
        if (nesting == MAX_NESTING) {
            throw malformed("values nested more than " + MAX_NESTING + " deep", "fewer");
        }
        outerIds[nesting++] = fieldId;
    }

    /** Goes to the next field of a struct; if there is none, leaves the struct and returns false. */
    boolean nextField() {
        int head = u8();
        if (head == 0) {
            fieldId = outerIds[--nesting];
            type = STRUCT;
            return false;
        }
        type = head & 0xF;
        int delta = head >>> 4;
        fieldId = delta == 0 ? (short) zigzag(varint()) : fieldId + delta;
        return true;
    }

    int fieldId() {
        return fieldId;
    }

    /**
     * Reads a struct's integers and booleans; returns the value of each id below {@code ids}, -1 if it is missing, 1
     * for true.
     */
    int[] integers(int ids) {
        int[] values = new int[ids];
        Arrays.fill(values, -1);
        beginStruct();
        while (nextField()) {
            int id = fieldId;
            if (id < 0 || id >= ids) {
                skip();
                continue;
            }
            switch (type) {
                case TRUE, FALSE -> values[id] = bool() ? 1 : 0;
                case I8 -> values[id] = i8();
                case I32 -> values[id] = i32();
                default -> skip();
            }
        }
        return values;
    }

    boolean bool() {
        if (type != TRUE && type != FALSE) {
            throw malformed("field " + fieldId + " of Thrift type " + type, "a truth value");
        }
        return type == TRUE;
    }

    int i8() {
        expect(I8, "an i8");
        return (byte) u8();
    }

    int i32() {
        expect(I32, "an i32");
        long value = zigzag(varint());
        if (value != (int) value) {
            throw malformed("field " + fieldId + " with the value " + value, "an i32");
        }
        return (int) value;
    }

    long i64() {
        expect(I64, "an i64");
        return zigzag(varint());
    }

    String string() {
        expect(BINARY, "a string");
        int length = length();
        byte[] text = bytes.asSlice(at, length).toArray(JAVA_BYTE);
        try {
            String decoded = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text)).toString();
            at += length;
            return decoded;
        } catch (CharacterCodingException _) {
            throw malformed("field " + fieldId + ": a string that is not UTF-8", "UTF-8");
        }
    }

    /** Reads a text for people or other programs, whatever its bytes; a value of another type is an empty text. */
    String text() {
        if (type != BINARY) {
            skip();
            return "";
        }
        int length = length();
        byte[] text = bytes.asSlice(at, length).toArray(JAVA_BYTE);
        at += length;
        return new String(text, StandardCharsets.UTF_8);
    }

    byte[] binary() {
        expect(BINARY, "bytes");
        int length = length();
        byte[] found = bytes.asSlice(at, length).toArray(JAVA_BYTE);
        at += length;
        return found;
    }

    /** Reads a list of truth values, of which each is a byte: 1 is true, and 2, or 0 of some writers, false. */
    List<Boolean> booleans() {
        expect(LIST, "a list");
        int count = listHead();
        if (count > 0 && type != TRUE && type != FALSE) {
            throw malformed("field " + fieldId + ": a list of Thrift type " + type, "truth values");
        }
        List<Boolean> values = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            values.add(u8() == TRUE);
        }
        return values;
    }

    /** Enters a list and returns its count. */
    int list(int elementType) {
        expect(LIST, "a list");
        int count = listHead();
        if (count > 0 && type != elementType) {
            throw malformed("field " + fieldId + ": a list of Thrift type " + type, "type " + elementType);
        }
        type = elementType;
        return count;
    }

    /** Skips the value of the field. */
    void skip() {
        switch (type) {
            case TRUE, FALSE -> { }
            case I8 -> u8();
            case I16, I32, I64 -> varint();
            case DOUBLE -> pass(Double.BYTES);
            case BINARY -> pass(length());
            case LIST, SET -> {
                int count = listHead();
                skipElements(count, type);
            }
            case MAP -> {
                int count = count(varint());
                int types = count == 0 ? 0 : u8();
                skipElements(count, types >>> 4, types & 0xF);
            }
            case STRUCT -> {
                beginStruct();
                while (nextField()) {
                    skip();
                }
            }
            default -> throw malformed("field " + fieldId + " of Thrift type " + type, "a type from 1 to 12");
        }
    }

    /** Skips the elements of a list or set, or the keys and values of a map. */
    private void skipElements(int count, int... types) {
        enter();
        for (int i = 0; i < count; i++) {
            for (int elementType : types) {
                skipElement(elementType);
            }
        }
        nesting--;
    }

    /** A boolean is its field's type, but a byte as an element. */
    private void skipElement(int elementType) {
        if (elementType == TRUE || elementType == FALSE) {
            u8();
        } else {
            type = elementType;
            skip();
        }
    }

    /** Returns the count of a list; sets the type of its elements. */
    private int listHead() {
        int head = u8();
        type = head & 0xF;
        return count(head >>> 4 == 0xF ? varint() : head >>> 4);
    }

    /** Checks a count: every element takes at least a byte. */
    private int count(long count) {
        if (count < 0 || count > MAX_ELEMENTS || count > end - at) {
            throw malformed("field " + fieldId + ": " + Long.toUnsignedString(count) + " elements", "at most "
                    + Math.min(MAX_ELEMENTS, end - at));
        }
        return (int) count;
    }

    private int length() {
        long length = varint();
        if (length < 0 || length > MAX_STRING_BYTES || length > end - at) {
            throw malformed("field " + fieldId + ": " + Long.toUnsignedString(length) + " bytes of text", "at most "
                    + Math.min(MAX_STRING_BYTES, end - at));
        }
        return (int) length;
    }

    private void pass(long count) {
        if (count > end - at) {
            throw malformed("the end of the struct's bytes", "more");
        }
        at += count;
    }

    private int u8() {
        if (at >= end) {
            throw malformed("the end of the struct's bytes", "more");
        }
        return bytes.get(ValueLayout.JAVA_BYTE, at++) & 0xFF;
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < VARINT_BITS; shift += 7) {
            int part = u8();
            value |= (long) (part & 0x7F) << shift;
            if (part < 0x80) {
                return value;
            }
        }
        throw malformed("a number of more than 10 bytes", "a varint");
    }

    private static long zigzag(long value) {
        return value >>> 1 ^ -(value & 1);
    }

    private void expect(int expected, String called) {
        if (type != expected) {
            throw malformed("field " + fieldId + " of Thrift type " + type, called);
        }
    }

    MalformedStoreException malformed(String found, String expected) {
        return new MalformedStoreException(file, origin + at, found, expected);
    }
}
