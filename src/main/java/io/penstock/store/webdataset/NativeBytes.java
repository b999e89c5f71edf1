package io.penstock.store.webdataset;

import io.penstock.store.mapped.LittleEndian;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Numbers appended to native memory that grows; little-endian; used by one thread. */
final class NativeBytes implements AutoCloseable {

    private static final long FIRST_BYTES = 1 << 14;

    private Arena arena = Arena.ofConfined();
    private MemorySegment bytes = arena.allocate(FIRST_BYTES, Long.BYTES);
    private long used;

    void putInt(int value) {
        reserve(Integer.BYTES);
        bytes.set(LittleEndian.I32, used, value);
        used += Integer.BYTES;
    }

    void putLong(long value) {
        reserve(Long.BYTES);
        bytes.set(LittleEndian.I64, used, value);
        used += Long.BYTES;
    }

    int getInt(long offset) {
        return bytes.get(LittleEndian.I32, offset);
    }

    /** Gives up what is behind; it stays readable until it is overwritten. */
    void truncate(long byteSize) {
        used = byteSize;
    }

    long byteSize() {
        return used;
    }

    void copyTo(MemorySegment target, long offset) {
        MemorySegment.copy(bytes, 0, target, offset, used);
    }

    private void reserve(long more) {
        if (used + more > bytes.byteSize()) {
            Arena larger = Arena.ofConfined();
            MemorySegment copy = larger.allocate(bytes.byteSize() * 2, Long.BYTES);
            MemorySegment.copy(bytes, 0, copy, 0, used);
            arena.close();
            arena = larger;
            bytes = copy;
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
