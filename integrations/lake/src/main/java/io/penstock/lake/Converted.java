// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import io.penstock.io.Span;
import io.penstock.store.RecordStore;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;

/** A column of a data file whose values were converted to the table's type, all at once. */
final class Converted {

    private final MemorySegment values;
    private final long[] ends;
    private final BitSet present;

    private Converted(MemorySegment values, long[] ends, BitSet present) {
        this.values = values;
        this.ends = ends;
        this.present = present;
    }

    static Converted of(RecordStore rows, int column, Conversion conversion, Arena arena) {
        int count = Math.toIntExact(rows.size());
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        long[] ends = new long[count];
        BitSet present = new BitSet(count);
        Span span = new Span();
        for (int row = 0; row < count; row++) {
            if (rows.isPresent(row, column)) {
                rows.locate(row, column, span);
                present.set(row);
                out.writeBytes(conversion.convert(span.slice()));
            }
            ends[row] = out.size();
        }
        byte[] bytes = out.toByteArray();
        MemorySegment values = arena.allocate(Math.max(1, bytes.length), Long.BYTES);
        MemorySegment.copy(bytes, 0, values, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return new Converted(values, ends, present);
    }

    boolean isPresent(long row) {
        return present.get((int) row);
    }

    void locate(long row, Span into) {
        long start = row == 0 ? 0 : ends[(int) row - 1];
        into.set(values, start, ends[(int) row] - start);
    }
}
