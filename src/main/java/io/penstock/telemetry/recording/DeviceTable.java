// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.telemetry.BatchAccount.OnDevice;

/** The copy thread's rows of times by the device's clock, each written at once, some batches later. */
final class DeviceTable extends AccountTable {

    private static final int COPY = 1;
    private static final int STAGES = 2;
    private static final int LATE = 3;
    private static final int EXPOSED = 4;
    private static final int COMPUTE = 5;
    private static final int STEP = 6;
    /** One more than needed, to align rows with cache lines. */
    private static final int COLUMNS = 8;

    DeviceTable() {
        super(COLUMNS);
    }

    void write(int index, DeviceTimes batch) {
        int row = open(index);
        values[row + COPY] = batch.copyNanos;
        values[row + STAGES] = batch.stageNanos;
        values[row + LATE] = batch.lateNanos;
        values[row + EXPOSED] = batch.exposedNanos;
        values[row + COMPUTE] = batch.computeNanos;
        values[row + STEP] = NOT_MEASURED;
        close(row, batch.sequence);
    }

    void stepped(int index, long sequence, long nanos) {
        setIfOf(index, sequence, STEP, nanos);
    }

    OnDevice onDevice(int index) {
        int row = row(index);
        return new OnDevice(values[row + COPY], values[row + STAGES], values[row + LATE], values[row + EXPOSED],
                values[row + COMPUTE], values[row + STEP]);
    }
}
