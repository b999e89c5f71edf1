package io.penstock.format.arrow;

/**
 * Which batch a row is in. Batches have mostly the same number of rows, so that a table of as many equal parts of the
 * rows as there are batches leaves one or two to choose from; whatever their sizes are, the rest is a binary search.
 */
final class RowIndex {

    private final long[] starts;
    private final int shift;
    /** For each part of {@code 1 << shift} rows the batch of its first row, and the last batch behind them. */
    private final int[] batchOfPart;

    /**
     * An index.
     *
     * @param starts the first row of each batch, and the number of rows behind them
     */
    RowIndex(long[] starts) {
        this.starts = starts;
        long batches = starts.length - 1;
        long rows = starts[starts.length - 1];
        int bits = 0;
        while ((rows >> bits) > 2 * batches) {
            bits++;
        }
        shift = bits;
        batchOfPart = new int[(int) (rows >> shift) + 2];
        int batch = 0;
        for (int part = 0; part < batchOfPart.length; part++) {
            while (batch < batches - 1 && starts[batch + 1] <= (long) part << shift) {
                batch++;
            }
            batchOfPart[part] = batch;
        }
    }

    long rows() {
        return starts[starts.length - 1];
    }

    int batches() {
        return starts.length - 1;
    }

    /** The first row of a batch. */
    long start(int batch) {
        return starts[batch];
    }

    /** The batch that has a row. */
    int batch(long row) {
        int part = (int) (row >> shift);
        int low = batchOfPart[part];
        int high = batchOfPart[part + 1];
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (starts[middle] <= row) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }
}
