// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.io.Span;
import io.penstock.io.publish.DecodedSpill;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Decoded values of a column for some rows: the values of all rows, consecutive; for lists or bytes, {@code rows + 1}
 * {@code u32} offsets in elements or bytes; if rows lack values, a state byte per row. A part that is missing has the
 * offset -1.
 */
public record ColumnBlock(DecodedSpill.Place place, long valuesAt, int valueBytes, long offsetsAt, long statesAt) {

    /** The state of a row that is null. */
    public static final byte NULL = 0;

    /** The state of a row that has a value. */
    public static final byte PRESENT = 1;

    /** The state of a row whose value cannot be read. */
    public static final byte BAD = 2;

    /** A decoded copy that takes runs of bytes, as {@link DecodedSpill#append} does. */
    @FunctionalInterface
    public interface Copy {

        /** Takes runs of bytes, each aligned to 64 bytes. Returns the place of the first run. */
        DecodedSpill.Place append(MemorySegment... runs) throws IOException;
    }

    /** Appends values to a decoded copy. Offsets are null if each row has one value, states if every row has one. */
    public static ColumnBlock append(Copy copy, MemorySegment values, int valueBytes,
            @Nullable MemorySegment offsets, @Nullable MemorySegment states) throws IOException {
        MemorySegment none = MemorySegment.NULL;
        DecodedSpill.Place place = copy.append(values, offsets == null ? none : offsets,
                states == null ? none : states);
        long offsetsAt = place.offset() + DecodedSpill.aligned(values.byteSize());
        long statesAt = offsetsAt + DecodedSpill.aligned(offsets == null ? 0 : offsets.byteSize());
        return new ColumnBlock(place, place.offset(), valueBytes, offsets == null ? -1 : offsetsAt,
                states == null ? -1 : statesAt);
    }

    /** Returns the state of a row, of a block that is there; rows count from the block's first. */
    public byte state(long row) {
        return statesAt < 0 ? PRESENT : place.file().mapping().get(JAVA_BYTE, statesAt + row);
    }

    /** Locates the value of a row that has one; rows count from the block's first. */
    public void locate(long row, Span into) {
        if (offsetsAt < 0) {
            into.set(place.file(), valuesAt + row * valueBytes, valueBytes);
            return;
        }
        long at = offsetsAt + row * Integer.BYTES;
        long start = place.file().mapping().get(LittleEndian.I32, at);
        long end = place.file().mapping().get(LittleEndian.I32, at + Integer.BYTES);
        into.set(place.file(), valuesAt + start * valueBytes, (end - start) * valueBytes);
    }

    /** Returns where the value of a row is, of a block that is there; -1 if it has none of this size. */
    public long placeOf(long row, long bytes) {
        MemorySegment memory = place.file().mapping();
        if (statesAt >= 0 && memory.get(JAVA_BYTE, statesAt + row) != PRESENT) {
            return -1;
        }
        if (offsetsAt < 0) {
            return valueBytes == bytes ? valuesAt + row * valueBytes : -1;
        }
        long start = memory.get(LittleEndian.I32, offsetsAt + row * Integer.BYTES);
        long end = memory.get(LittleEndian.I32, offsetsAt + row * Integer.BYTES + Integer.BYTES);
        return (end - start) * valueBytes == bytes ? valuesAt + start * valueBytes : -1;
    }
}
