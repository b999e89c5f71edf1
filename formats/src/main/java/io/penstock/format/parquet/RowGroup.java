// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import java.util.ArrayList;
import java.util.List;

/** A row group, with the chunk of each leaf of the schema. */
record RowGroup(long rows, List<ColumnChunk> chunks) {

    /** Decoding counts the rows of a group in an {@code int}. */
    static final long MAX_ROWS = Integer.MAX_VALUE - 1;

    /** Returns the group with chunks that are compressed whatever their pages say. */
    RowGroup alwaysCompressed() {
        return new RowGroup(rows, chunks.stream().map(ColumnChunk::alwaysCompressed).toList());
    }

    static RowGroup read(ThriftReader in, long pagesEnd) {
        long rows = -1;
        List<ColumnChunk> chunks = new ArrayList<>();
        in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> {
                    for (int i = in.list(ThriftReader.STRUCT); i > 0; i--) {
                        chunks.add(ColumnChunk.read(in, pagesEnd));
                    }
                }
                case 3 -> rows = in.i64();
                default -> in.skip();
            }
        }
        if (rows < 0 || rows > MAX_ROWS) {
            throw in.malformed("a row group of " + rows + " rows", "0 to " + MAX_ROWS);
        }
        return new RowGroup(rows, List.copyOf(chunks));
    }
}
