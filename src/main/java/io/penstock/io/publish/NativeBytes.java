// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import io.penstock.memory.LittleEndian;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Supplier;

/** A growable little-endian buffer in native memory, for one thread. */
public final class NativeBytes implements AutoCloseable {

    private static final long FIRST_BYTES = 1 << 14;

    private final Supplier<Arena> arenas;
    private Arena arena;
    private MemorySegment bytes;
    private long used;

    public NativeBytes() {
        this(Arena::ofConfined, FIRST_BYTES);
    }

    private NativeBytes(Supplier<Arena> arenas, long firstBytes) {
        this.arenas = arenas;
        this.arena = arenas.get();
        this.bytes = arena.allocate(firstBytes, Long.BYTES);
    }

    /** {@return a buffer with room for some bytes, which any thread may read once nothing more is appended} */
    public static NativeBytes shared(long expectedBytes) {
        return new NativeBytes(Arena::ofShared, Math.max(FIRST_BYTES, expectedBytes));
    }

    /** Appends a 32-bit number. */
    public void putInt(int value) {
        reserve(Integer.BYTES);
        bytes.set(LittleEndian.I32, used, value);
        used += Integer.BYTES;
    }

    /** Appends a 64-bit number. */
    public void putLong(long value) {
        reserve(Long.BYTES);
        bytes.set(LittleEndian.I64, used, value);
        used += Long.BYTES;
    }

    public void put(byte[] value) {
        reserve(value.length);
        MemorySegment.copy(value, 0, bytes, ValueLayout.JAVA_BYTE, used, value.length);
        used += value.length;
    }

    public void put(byte value) {
        reserve(Byte.BYTES);
        bytes.set(ValueLayout.JAVA_BYTE, used++, value);
    }

    public void put(MemorySegment source, long offset, long length) {
        reserve(length);
        MemorySegment.copy(source, offset, bytes, used, length);
        used += length;
    }

    /** {@return a view of the appended bytes, valid until more is appended} */
    public MemorySegment written() {
        return bytes.asSlice(0, used);
    }

    /** Reads a 32-bit number back. */
    public int getInt(long offset) {
        return bytes.get(LittleEndian.I32, offset);
    }

    /** Drops the bytes after a position; they stay readable until overwritten. */
    public void truncate(long byteSize) {
        used = byteSize;
    }

    public long byteSize() {
        return used;
    }

    public void copyTo(MemorySegment target, long offset) {
        MemorySegment.copy(bytes, 0, target, offset, used);
    }

    private void reserve(long more) {
        if (used + more > bytes.byteSize()) {
            Arena larger = arenas.get();
            MemorySegment copy = larger.allocate(Math.max(bytes.byteSize() * 2, used + more), Long.BYTES);
            MemorySegment.copy(bytes, 0, copy, 0, used);
            arena.close();
            arena = larger;
            bytes = copy;
        }
    }

    /** Frees the memory. */
    @Override
    public void close() {
        arena.close();
    }
}
