// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import io.penstock.io.Span;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Records in native memory; a value that is null is not there. */
public final class MemoryRecordStore implements RecordStore {

    private final Arena arena = Arena.ofShared();
    private final List<Column> columns;
    private final MemorySegment[][] values;

    /** Records of the given columns: {@code values[r][c]} is what record {@code r} has in column {@code c}. */
    public MemoryRecordStore(List<Column> columns, byte[][]... values) {
        this.columns = columns;
        this.values = new MemorySegment[values.length][columns.size()];
        for (int r = 0; r < values.length; r++) {
            for (int c = 0; c < columns.size(); c++) {
                byte[] bytes = values[r][c];
                this.values[r][c] = bytes == null ? null
                        : arena.allocate(bytes.length + 1).asSlice(0, bytes.length)
                                .copyFrom(MemorySegment.ofArray(bytes));
            }
        }
    }

    @Override
    public long size() {
        return values.length;
    }

    @Override
    public List<Column> columns() {
        return columns;
    }

    @Override
    public boolean isPresent(long record, int column) {
        return values[(int) record][column] != null;
    }

    @Override
    public void locate(long record, int column, Span into) {
        MemorySegment value = values[(int) record][column];
        if (value == null) {
            throw new UncheckedIOException(new IOException(name(record) + " has no " + columns.get(column).name()));
        }
        into.set(value, 0, value.byteSize());
    }

    @Override
    public String name(long record) {
        return "record number " + record;
    }

    @Override
    public boolean isConverted(int column) {
        return false;
    }

    @Override
    public String fingerprint() {
        StringBuilder text = new StringBuilder("memory");
        for (MemorySegment[] record : values) {
            for (MemorySegment value : record) {
                text.append(value == null ? -1 : java.util.Arrays.hashCode(value.toArray(ValueLayout.JAVA_BYTE)));
            }
        }
        return text.toString();
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
