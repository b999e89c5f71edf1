// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.memory.LittleEndian;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

/**
 * Native memory that takes records one behind the other. It grows, and is used again, so that the steady state
 * allocates nothing. For one thread at a time.
 */
public final class RecordBuffer implements AutoCloseable {

    /**
     * Where a part of a record is, of a source whose records have several {@linkplain StreamSource#parts parts}: the
     * record begins with so many bytes for each part, two little-endian {@code i32}: where the part begins in the
     * record, and its length in bytes.
     */
    public static final int PART_BYTES = 2 * Integer.BYTES;
    /** In place of a part's number: all of a record. */
    static final int WHOLE = -1;
    private static final long LEAST_BYTES = 1 << 16;
    /** What is expected may not come. */
    private static final long MOST_EXPECTED_BYTES = 1 << 28;

    private Arena arena = Arena.ofShared();
    private MemorySegment bytes = MemorySegment.NULL;
    /** Where each record ends. */
    private long[] ends = new long[256];
    private int count;

    /** Creates an empty buffer. */
    public RecordBuffer() {
    }

    /**
     * Adds a record.
     *
     * @param source where its bytes are
     * @param offset the first of them
     * @param length how many there are
     * @throws IndexOutOfBoundsException if they are outside of the source
     */
    public void add(MemorySegment source, long offset, long length) {
        long at = end();
        reserve(at, length);
        MemorySegment.copy(source, offset, bytes, at, length);
        end(at + length);
    }

    /**
     * Adds a record.
     *
     * @param source where its bytes are
     * @param offset the first of them
     * @param length how many there are
     * @throws IndexOutOfBoundsException if they are outside of the source
     */
    public void add(byte[] source, int offset, int length) {
        long at = end();
        reserve(at, length);
        MemorySegment.copy(source, offset, bytes, JAVA_BYTE, at, length);
        end(at + length);
    }

    /**
     * Makes room behind the last record, to write a record in place. {@link #add(long)} adds it when it is whole.
     *
     * @param written bytes of the record that are written already
     * @param more bytes to make room for
     * @return the record's memory, from its first byte on; what was returned before is no longer valid
     */
    public MemorySegment write(long written, long more) {
        long at = end();
        reserve(at + written, more);
        return bytes.asSlice(at, written + more);
    }

    /**
     * Adds the record that was {@linkplain #write written} behind the last one.
     *
     * @param length its bytes
     * @throws IndexOutOfBoundsException if there is no room for so many
     */
    public void add(long length) {
        long end = end() + length;
        Objects.checkFromToIndex(end(), end, bytes.byteSize());
        end(end);
    }

    /** {@return the number of records} */
    public int count() {
        return count;
    }

    /**
     * Returns a record's bytes.
     *
     * @param record its number, from 0
     * @return the memory, valid until the buffer is cleared or closed, or grows
     * @throws IndexOutOfBoundsException if there is no such record
     */
    public MemorySegment record(int record) {
        return bytes.asSlice(begin(record), ends[record] - begin(record));
    }

    /** Removes all records, and keeps the memory. */
    public void clear() {
        count = 0;
    }

    /** Frees the memory. Calling it again does nothing. */
    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    MemorySegment bytes() {
        return bytes;
    }

    long begin(int record) {
        return record == 0 ? 0 : ends[record - 1];
    }

    /** Where a part of a record begins. */
    long begin(int record, int part) {
        long at = begin(record);
        return part == WHOLE ? at : at + bytes.get(LittleEndian.I32, at + (long) part * PART_BYTES);
    }

    /** The bytes of a part of a record. */
    long byteSize(int record, int part) {
        long at = begin(record);
        return part == WHOLE ? ends[record] - at
                : bytes.get(LittleEndian.I32, at + (long) part * PART_BYTES + Integer.BYTES);
    }

    long end(int record) {
        return ends[record];
    }

    /** The bytes of all records. */
    long end() {
        return begin(count);
    }

    private void end(long at) {
        if (count == ends.length) {
            ends = Arrays.copyOf(ends, 2 * count);
        }
        ends[count++] = at;
    }

    /** Makes room for so many records in all, if they are as large as those so far on average. */
    void expect(int records) {
        long each = end() / Math.max(1, count);
        long all = Math.min((each + each / 16 + 1) * records, MOST_EXPECTED_BYTES);
        if (all > bytes.byteSize()) {
            grow(end(), all);
        }
    }

    private void reserve(long used, long more) {
        if (used + more > bytes.byteSize()) {
            grow(used, Math.max(LEAST_BYTES, Math.max(used + more, 2 * bytes.byteSize())));
        }
    }

    private void grow(long used, long byteSize) {
        Arena larger = Arena.ofShared();
        MemorySegment grown = larger.allocate(byteSize, 64);
        MemorySegment.copy(bytes, 0, grown, 0, used);
        arena.close();
        arena = larger;
        bytes = grown;
    }
}
