// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A table in a FlatBuffer, read where it lies; every access is checked against the buffer's end.
 *
 * <pre>
 *   table at:   i32   distance back to the vtable
 *               ...   the fields
 *   vtable:     u16   bytes of the vtable
 *               u16   bytes of the table
 *               u16[] for each field its distance from the table's start, 0 if it has its default
 * </pre>
 *
 * <p>A reference is a {@code u32}: the distance forward from itself. A vector is a {@code u32} count and the elements;
 * a string is a vector of UTF-8.
 *
 * @see <a href="https://flatbuffers.dev/internals/">FlatBuffers' binary format</a>
 */
final class FlatTable {

    /** The limit of a name or text in metadata, whose memory must be bounded. */
    private static final int MAX_STRING_BYTES = 1 << 12;

    private final Location file;
    /** The buffer's offset in the file, for messages. */
    private final long base;
    private final MemorySegment buffer;
    private final long at;
    private final long vtable;
    private final int vtableBytes;
    private final int tableBytes;

    private FlatTable(Location file, long base, MemorySegment buffer, long at) {
        this.file = file;
        this.base = base;
        this.buffer = buffer;
        this.at = at;
        check(at, Integer.BYTES);
        this.vtable = at - buffer.get(LittleEndian.I32, at);
        check(vtable, 2 * Short.BYTES);
        this.vtableBytes = u16(vtable);
        this.tableBytes = u16(vtable + Short.BYTES);
        check(vtable, vtableBytes);
        check(at, tableBytes);
    }

    /** Returns the root table of the buffer at {@code start}. */
    static FlatTable root(Location file, MemorySegment buffer, long start) {
        if (buffer.byteSize() < Integer.BYTES) {
            throw new MalformedStoreException(file, start, buffer.byteSize() + " bytes of metadata", "a FlatBuffer");
        }
        return new FlatTable(file, start, buffer, Integer.toUnsignedLong(buffer.get(LittleEndian.I32, 0)));
    }

    private void check(long position, long bytes) {
        if (position < 0 || bytes < 0 || bytes > buffer.byteSize() - position) {
            throw new MalformedStoreException(file, base + Math.clamp(position, 0, buffer.byteSize()),
                    "metadata that points outside itself", "a FlatBuffer of " + buffer.byteSize() + " bytes");
        }
    }

    MalformedStoreException malformed(String found, String expected) {
        return new MalformedStoreException(file, base + at, found, expected);
    }

    private int u16(long position) {
        return Short.toUnsignedInt(buffer.get(LittleEndian.I16, position));
    }

    /** Returns the place of a field; -1 if it has its default. */
    private long field(int slot, int bytes) {
        int entry = (2 + slot) * Short.BYTES;
        if (entry + Short.BYTES > vtableBytes) {
            return -1;
        }
        int distance = u16(vtable + entry);
        if (distance == 0) {
            return -1;
        }
        if (distance < Integer.BYTES || distance + bytes > tableBytes) {
            throw malformed("a field at " + distance + " in a table of " + tableBytes + " bytes", "one within it");
        }
        return at + distance;
    }

    boolean hasField(int slot) {
        return field(slot, Integer.BYTES) >= 0;
    }

    int u8(int slot, int byDefault) {
        long position = field(slot, Byte.BYTES);
        return position < 0 ? byDefault : Byte.toUnsignedInt(buffer.get(ValueLayout.JAVA_BYTE, position));
    }

    boolean bool(int slot) {
        return u8(slot, 0) != 0;
    }

    int i16(int slot, int byDefault) {
        long position = field(slot, Short.BYTES);
        return position < 0 ? byDefault : buffer.get(LittleEndian.I16, position);
    }

    int i32(int slot, int byDefault) {
        long position = field(slot, Integer.BYTES);
        return position < 0 ? byDefault : buffer.get(LittleEndian.I32, position);
    }

    long i64(int slot, long byDefault) {
        long position = field(slot, Long.BYTES);
        return position < 0 ? byDefault : buffer.get(LittleEndian.I64, position);
    }

    private long follow(long reference) {
        check(reference, Integer.BYTES);
        long target = reference + Integer.toUnsignedLong(buffer.get(LittleEndian.I32, reference));
        check(target, Integer.BYTES);
        return target;
    }

    /** Returns a table that a field refers to; null if there is none. */
    @Nullable FlatTable table(int slot) {
        long position = field(slot, Integer.BYTES);
        return position < 0 ? null : new FlatTable(file, base, buffer, follow(position));
    }

    /** Returns a text as bytes; null if there is none. */
    private @Nullable MemorySegment text(int slot) {
        long position = field(slot, Integer.BYTES);
        if (position < 0) {
            return null;
        }
        long start = follow(position);
        long bytes = Integer.toUnsignedLong(buffer.get(LittleEndian.I32, start));
        check(start + Integer.BYTES, bytes);
        return buffer.asSlice(start + Integer.BYTES, bytes);
    }

    /** Returns a text; null if there is none. */
    @Nullable String string(int slot) {
        MemorySegment text = text(slot);
        if (text == null) {
            return null;
        }
        if (text.byteSize() > MAX_STRING_BYTES) {
            throw malformed("a name of " + text.byteSize() + " bytes", "at most " + MAX_STRING_BYTES);
        }
        return new String(text.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    /** Tells whether a text of any length equals the expected one. */
    boolean isString(int slot, String expected) {
        MemorySegment text = text(slot);
        return text != null && text.mismatch(MemorySegment.ofArray(expected.getBytes(StandardCharsets.UTF_8))) < 0;
    }

    record Vector(FlatTable owner, long at, long count, int elementBytes) {

        long i64(long index, int offset) {
            return owner.buffer.get(LittleEndian.I64, at + index * elementBytes + offset);
        }

        int i32(long index, int offset) {
            return owner.buffer.get(LittleEndian.I32, at + index * elementBytes + offset);
        }

        /** Returns the table that an element refers to. */
        FlatTable table(long index) {
            return new FlatTable(owner.file, owner.base, owner.buffer, owner.follow(at + index * elementBytes));
        }
    }

    /** Returns a vector; empty if there is none. */
    Vector vector(int slot, int elementBytes) {
        long position = field(slot, Integer.BYTES);
        if (position < 0) {
            return new Vector(this, 0, 0, elementBytes);
        }
        long start = follow(position);
        long count = Integer.toUnsignedLong(buffer.get(LittleEndian.I32, start));
        check(start + Integer.BYTES, count * elementBytes);
        return new Vector(this, start + Integer.BYTES, count, elementBytes);
    }
}
