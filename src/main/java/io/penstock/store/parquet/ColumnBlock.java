package io.penstock.store.parquet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.memory.Span;
import io.penstock.store.mapped.DecodedSpill;
import io.penstock.store.mapped.LittleEndian;

/**
 * A column's values of one row group, decoded: the values of all rows one behind the other; where they are lists or
 * bytes, {@code rows + 1} offsets in units of elements or bytes; where there are nulls, a byte a row that says whether
 * it has a value.
 *
 * @param place the file that holds them
 * @param valuesAt where in it the values start
 * @param valueBytes of a value, or of a list's element
 * @param offsetsAt where the offsets start, {@code u32}; -1 if each row has one value
 * @param validAt where the bytes of rows start; -1 if every row has a value
 */
record ColumnBlock(DecodedSpill.Place place, long valuesAt, int valueBytes, long offsetsAt, long validAt) {

    boolean isPresent(long row) {
        return validAt < 0 || place.file().segment().get(JAVA_BYTE, validAt + row) != 0;
    }

    void locate(long row, Span into) {
        if (offsetsAt < 0) {
            into.set(place.file(), valuesAt + row * valueBytes, valueBytes);
            return;
        }
        long at = offsetsAt + row * Integer.BYTES;
        long start = place.file().segment().get(LittleEndian.I32, at);
        long end = place.file().segment().get(LittleEndian.I32, at + Integer.BYTES);
        into.set(place.file(), valuesAt + start * valueBytes, (end - start) * valueBytes);
    }
}
