// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.telemetry.BatchAccount.Marked;
import io.penstock.telemetry.BatchAccount.OnDevice;
import io.penstock.telemetry.Phase;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The copy thread's rows of times by the device's clock, each written at once, some batches later. */
final class DeviceTable extends AccountTable {

    private static final int COPY = 1;
    private static final int STAGES = 2;
    private static final int LATE = 3;
    private static final int EXPOSED = 4;
    private static final int COMPUTE = 5;
    private static final int STEP = 6;
    /** The first phase, by its ordinal; not measured if none was marked. */
    private static final int PHASES = 7;
    private static final int COLUMNS = PHASES + Phase.values().length;

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
        if (batch.isMarked) {
            System.arraycopy(batch.phaseNanos, 0, values, row + PHASES, batch.phaseNanos.length);
        } else {
            Arrays.fill(values, row + PHASES, row + COLUMNS, NOT_MEASURED);
        }
        close(row, batch.sequence);
    }

    void stepped(int index, long sequence, long nanos) {
        setIfOf(index, sequence, STEP, nanos);
    }

    OnDevice onDevice(int index) {
        int row = row(index);
        return new OnDevice(values[row + COPY], values[row + STAGES], values[row + LATE], values[row + EXPOSED],
                values[row + COMPUTE], values[row + STEP], marked(row));
    }

    private @Nullable Marked marked(int row) {
        return values[row + PHASES] == NOT_MEASURED ? null : new Marked(nanos(row, Phase.COMPUTE),
                nanos(row, Phase.FORWARD), nanos(row, Phase.BACKWARD), nanos(row, Phase.OPTIMIZER));
    }

    private long nanos(int row, Phase phase) {
        return values[row + PHASES + phase.ordinal()];
    }
}
