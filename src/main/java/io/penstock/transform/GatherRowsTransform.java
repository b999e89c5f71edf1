package io.penstock.transform;

import io.penstock.device.DeviceStream;
import io.penstock.device.Kernel;
import io.penstock.memory.DType;

/**
 * Rows of a table in device memory, picked by index: {@code target[k] = table[indices[k]]}.
 *
 * <pre>
 *   table     [N, R bytes]
 *   indices   [K]             any integer dtype; one outside 0 … N-1 gives a row of zeros
 *   target    [K, R bytes]
 * </pre>
 */
public final class GatherRowsTransform {
    private static final int TABLE = 0;
    private static final int ROWS = 1;
    private static final int INDICES = 2;
    private static final int INDEX_TYPE = 3;
    private static final int COUNT = 4;
    private static final int TARGET = 5;
    private static final int ROW_UNITS = 6;
    private static final int UNIT_BYTES = 7;

    private static final int MAX_UNIT_BYTES = 16;

    private static final Kernel KERNEL = new Kernel("penstock_gather_rows", 8, GatherRowsTransform::run);

    private final long[] words = new long[KERNEL.words()];
    private final DType indexType;
    private final long rowBytes;

    /**
     * Rows of one size.
     *
     * @param indexType the indices' dtype, any integer one
     * @param rowBytes R, at least 1
     * @throws IllegalArgumentException if the dtype or the size is none of these
     */
    public GatherRowsTransform(DType indexType, long rowBytes) {
        this.indexType = Arguments.integer("indices", indexType);
        this.rowBytes = Arguments.atLeast(1, "bytes a row", rowBytes);
        words[INDEX_TYPE] = RawMemory.word(indexType);
    }

    /**
     * Enqueues the gather. Fastest if the addresses and R are multiples of {@value #MAX_UNIT_BYTES}.
     *
     * @param stream where
     * @param table address of the table
     * @param rows N
     * @param indices address of the indices
     * @param count K
     * @param target address of the rows to write
     * @throws IllegalArgumentException if the address of the indices is not a multiple of their size
     */
    public synchronized void enqueue(
            DeviceStream stream, long table, long rows, long indices, long count, long target) {
        if (Arguments.count("target", count, rowBytes) == 0) {
            return;
        }
        words[TABLE] = Arguments.address("table", table, 1);
        words[ROWS] = Arguments.atLeast(0, "rows", rows);
        words[INDICES] = Arguments.address("indices", indices, indexType.byteSize());
        words[COUNT] = count;
        words[TARGET] = Arguments.address("target", target, 1);
        words[UNIT_BYTES] = Math.min(MAX_UNIT_BYTES, Long.lowestOneBit(table | target | rowBytes));
        words[ROW_UNITS] = rowBytes / words[UNIT_BYTES];
        stream.launch(KERNEL, Kernel.blocksForItems(count * words[ROW_UNITS]), words);
    }

    private static void run(long[] w) {
        DType indexType = RawMemory.dtype(w[INDEX_TYPE]);
        long rowBytes = w[ROW_UNITS] * w[UNIT_BYTES];
        for (long k = 0; k < w[COUNT]; k++) {
            long row = RawMemory.integer(indexType, w[INDICES], k);
            if (row >= 0 && row < w[ROWS]) {
                RawMemory.copy(w[TABLE] + row * rowBytes, w[TARGET] + k * rowBytes, rowBytes);
            } else {
                RawMemory.clear(w[TARGET] + k * rowBytes, rowBytes);
            }
        }
    }
}
