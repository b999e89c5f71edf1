// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.device.internal.RawMemory;
import io.penstock.device.internal.Word;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/**
 * Gathers rows of a table in device memory: {@code target[k] = table[indices[k]]}.
 *
 * <pre>
 *   table     [N, R bytes]
 *   indices   [K]             any integer dtype; one outside 0 … N-1 gives a row of zeros
 *   target    [K, R bytes]
 * </pre>
 */
public final class GatherRowsTransform {
    private static final StructLayout LAYOUT = Word.struct("GatherRows",
            "table", "rows", "indices", "index_type", "count", "target", "row_units", "unit_bytes");
    private static final Word TABLE = Word.of(LAYOUT, "table");
    private static final Word ROWS = Word.of(LAYOUT, "rows");
    private static final Word INDICES = Word.of(LAYOUT, "indices");
    private static final Word INDEX_TYPE = Word.of(LAYOUT, "index_type");
    private static final Word COUNT = Word.of(LAYOUT, "count");
    private static final Word TARGET = Word.of(LAYOUT, "target");
    private static final Word ROW_UNITS = Word.of(LAYOUT, "row_units");
    private static final Word UNIT_BYTES = Word.of(LAYOUT, "unit_bytes");

    private static final int MAX_UNIT_BYTES = 16;

    static final Kernel KERNEL = new Kernel("penstock_gather_rows", LAYOUT, GatherRowsTransform::run);

    private final MemorySegment arguments = KERNEL.newArguments();
    private final DType indexType;
    private final long rowBytes;

    /**
     * Creates the transform for rows of one size.
     *
     * @param indexType the indices' dtype, any integer dtype
     * @param rowBytes R, at least 1
     * @throws IllegalArgumentException if the dtype is not an integer dtype or the size is below 1
     */
    public GatherRowsTransform(DType indexType, long rowBytes) {
        this.indexType = Arguments.integer("indices", indexType);
        this.rowBytes = Arguments.atLeast(1, "bytes per row", rowBytes);
        INDEX_TYPE.set(arguments, indexType);
    }

    /**
     * Enqueues the gather. Fastest if the addresses and R are multiples of {@value #MAX_UNIT_BYTES}.
     *
     * @param stream the stream
     * @param table address of the table
     * @param rows N
     * @param indices address of the indices
     * @param count K
     * @param target address of the gathered rows, written
     * @throws IllegalArgumentException if the address of the indices is not a multiple of their size
     */
    public synchronized void enqueue(
            DeviceStream stream, long table, long rows, long indices, long count, long target) {
        if (Arguments.count("target", count, rowBytes) == 0) {
            return;
        }
        TABLE.set(arguments, Arguments.address("table", table, 1));
        ROWS.set(arguments, Arguments.atLeast(0, "rows", rows));
        INDICES.set(arguments, Arguments.address("indices", indices, indexType.byteSize()));
        COUNT.set(arguments, count);
        TARGET.set(arguments, Arguments.address("target", target, 1));
        UNIT_BYTES.set(arguments, Math.min(MAX_UNIT_BYTES, Long.lowestOneBit(table | target | rowBytes)));
        ROW_UNITS.set(arguments, rowBytes / UNIT_BYTES.get(arguments));
        stream.launch(KERNEL, Kernel.blocksForItems(count * ROW_UNITS.get(arguments)), arguments);
    }

    private static void run(MemorySegment w) {
        DType indexType = INDEX_TYPE.dtype(w);
        long rowBytes = ROW_UNITS.get(w) * UNIT_BYTES.get(w);
        for (long k = 0; k < COUNT.get(w); k++) {
            long row = RawMemory.integer(indexType, INDICES.get(w), k);
            if (row >= 0 && row < ROWS.get(w)) {
                RawMemory.copy(TABLE.get(w) + row * rowBytes, TARGET.get(w) + k * rowBytes, rowBytes);
            } else {
                RawMemory.clear(TARGET.get(w) + k * rowBytes, rowBytes);
            }
        }
    }
}
