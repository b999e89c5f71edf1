// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.telemetry.BatchAccount.Taking;

/**
 * The trainer's rows: written when it gets a batch; the thread that has the batch adds the marked compute time and the
 * end of the lease.
 */
final class TakingTable extends AccountTable {

    private static final int REQUESTED = 1;
    private static final int TAKEN = 2;
    private static final int CLOSED = 3;
    private static final int READY = 4;
    private static final int FREE = 5;
    private static final int COMPUTE = 6;
    /** One more than needed, to align rows with cache lines. */
    private static final int COLUMNS = 8;

    TakingTable() {
        super(COLUMNS);
    }

    void taken(int index, long sequence, long requestedAt, long takenAt, int ready, int free) {
        int row = open(index);
        values[row + REQUESTED] = requestedAt;
        values[row + TAKEN] = takenAt;
        values[row + CLOSED] = NOT_MEASURED;
        values[row + READY] = ready;
        values[row + FREE] = free;
        values[row + COMPUTE] = NOT_MEASURED;
        close(row, sequence);
    }

    void computed(int index, long sequence, long nanos) {
        setIfOf(index, sequence, COMPUTE, Math.max(0, values[row(index) + COMPUTE]) + nanos);
    }

    void closed(int index, long sequence, long at) {
        setIfOf(index, sequence, CLOSED, at);
    }

    Taking taking(int index) {
        int row = row(index);
        return new Taking(values[row + REQUESTED], values[row + TAKEN], values[row + CLOSED],
                values[row + COMPUTE], (int) values[row + READY], (int) values[row + FREE]);
    }
}
