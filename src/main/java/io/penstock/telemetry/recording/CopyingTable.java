// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.telemetry.BatchAccount.Copying;

/** The copy thread's rows: written when a copy is enqueued, completed by its arrival. */
final class CopyingTable extends AccountTable {

    private static final int SUBMIT = 1;
    private static final int SUBMITTED = 2;
    private static final int ARRIVED = 3;
    private static final int COLUMNS = 4;

    CopyingTable() {
        super(COLUMNS);
    }

    void submitted(int index, long sequence, long beginAt, long endAt) {
        int row = open(index);
        values[row + SUBMIT] = beginAt;
        values[row + SUBMITTED] = endAt;
        values[row + ARRIVED] = NOT_MEASURED;
        close(row, sequence);
    }

    void arrived(int index, long sequence, long at) {
        setIfOf(index, sequence, ARRIVED, at);
    }

    Copying copying(int index) {
        int row = row(index);
        return new Copying(values[row + SUBMIT], values[row + SUBMITTED], values[row + ARRIVED]);
    }
}
