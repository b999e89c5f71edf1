// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.internal.PrefixSums;

/**
 * The batch of each row. Batches have mostly the same number of rows, so a table of as many equal parts as there are
 * batches leaves one or two candidates; otherwise a binary search finds the batch.
 */
final class RowIndex {

    private final PrefixSums batches;
    private final int shift;
    /** For each part of {@code 1 << shift} rows the batch of its first row; then the last batch. */
    private final int[] batchOfPart;

    /** The rows of the store before these, for messages. */
    private final long rowsBefore;

    /** Creates an index from the first row of each batch and the number of rows. */
    RowIndex(long[] starts) {
        this(starts, 0);
    }

    private RowIndex(long[] starts, long rowsBefore) {
        this.rowsBefore = rowsBefore;
        this.batches = PrefixSums.of(starts);
        long rows = batches.total();
        int bits = 0;
        while ((rows >> bits) > 2L * batches.runs()) {
            bits++;
        }
        shift = bits;
        batchOfPart = new int[(int) (rows >> shift) + 2];
        int batch = 0;
        for (int part = 0; part < batchOfPart.length; part++) {
            while (batch < batches.runs() - 1 && batches.start(batch + 1) <= (long) part << shift) {
                batch++;
            }
            batchOfPart[part] = batch;
        }
    }

    /** Counts the rows of batches. */
    static final class Builder {

        private final Longs starts = new Longs();

        private final long rowsBefore;

        Builder() {
            this(0);
        }

        /** Begins behind so many rows of the store. */
        Builder(long rowsBefore) {
            this.rowsBefore = rowsBefore;
            starts.add(0);
        }

        void add(ArrowBatch batch) {
            if (batch.rows() > Long.MAX_VALUE - rows()) {
                throw batch.malformed("a batch of " + batch.rows() + " rows after " + rows(), "fewer");
            }
            starts.add(rows() + batch.rows());
        }

        /** Returns the rows so far. */
        long rows() {
            return starts.last();
        }

        RowIndex build() {
            return new RowIndex(starts.toArray(), rowsBefore);
        }
    }

    /** Returns the number of a row in the store. */
    long inStore(long row) {
        return rowsBefore + row;
    }

    PrefixSums batches() {
        return batches;
    }

    int batch(long row) {
        int part = (int) (row >> shift);
        return batches.runOf(row, batchOfPart[part], batchOfPart[part + 1]);
    }

    long start(int batch) {
        return batches.start(batch);
    }
}
