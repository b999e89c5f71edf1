// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.telemetry.BatchAccount.Download;
import io.penstock.telemetry.BatchAccount.Making;
import io.penstock.telemetry.BatchAccount.Usage;
import org.jspecify.annotations.Nullable;

/** The workers' rows: each is written at once, by the worker that made the batch. */
final class MakingTable extends AccountTable {

    private static final int CLAIMED = 1;
    private static final int SLOT = 2;
    private static final int PLANNED = 3;
    private static final int MADE = 4;
    private static final int READ = 5;
    private static final int DECODE = 6;
    private static final int TRANSFORM = 7;
    private static final int BYTES = 8;
    /** The epoch, shifted by a lowest bit that says whether the batch is the first. */
    private static final int EPOCH_AND_FIRST = 9;
    /** The worker in the upper half, the number of samples in the lower. */
    private static final int WORKER_AND_SAMPLES = 10;
    /** NOT_MEASURED if the operating system was not asked; then the columns after it are meaningless. */
    private static final int CPU = 11;
    private static final int DISK = 12;
    private static final int FAULTS = 13;
    /** Voluntary switches in the upper half, involuntary ones in the lower. */
    private static final int SWITCHES = 14;
    private static final int QUEUED = 15;
    private static final int SOURCE_EMPTY = 16;
    private static final int SOURCE_SLOW = 17;
    /** Reads of remote files; if 0, the columns after it are meaningless. */
    private static final int REMOTE_READS = 18;
    private static final int DOWNLOAD = 19;
    private static final int COLUMNS = DOWNLOAD + Download.PARTS;

    MakingTable() {
        super(COLUMNS);
    }

    void write(int index, Filling batch) {
        int row = open(index);
        values[row + CLAIMED] = batch.claimedAt;
        values[row + SLOT] = batch.slotAt;
        values[row + PLANNED] = batch.plannedAt;
        values[row + MADE] = batch.madeAt;
        values[row + READ] = batch.readNanos;
        values[row + DECODE] = batch.decodeNanos;
        values[row + TRANSFORM] = batch.transformNanos;
        values[row + SOURCE_EMPTY] = batch.sourceEmptyNanos;
        values[row + SOURCE_SLOW] = batch.sourceSlowNanos;
        values[row + BYTES] = batch.bytes;
        values[row + EPOCH_AND_FIRST] = batch.epoch << 1 | (batch.first ? 1 : 0);
        values[row + WORKER_AND_SAMPLES] = (long) batch.worker << Integer.SIZE | batch.samples;
        values[row + CPU] = batch.cpuNanos;
        if (batch.cpuNanos != NOT_MEASURED) {
            values[row + DISK] = batch.diskBytes;
            values[row + FAULTS] = batch.majorFaults;
            values[row + SWITCHES] = batch.voluntarySwitches << Integer.SIZE | batch.involuntarySwitches;
            values[row + QUEUED] = batch.queuedNanos;
        }
        values[row + REMOTE_READS] = batch.remoteReads;
        if (batch.remoteReads > 0) {
            System.arraycopy(batch.downloadNanos, 0, values, row + DOWNLOAD, Download.PARTS);
        }
        close(row, batch.sequence);
    }

    Making making(int index) {
        int row = row(index);
        return new Making((int) (values[row + WORKER_AND_SAMPLES] >> Integer.SIZE), values[row + CLAIMED],
                values[row + SLOT], values[row + PLANNED], values[row + MADE], values[row + READ],
                values[row + DECODE], values[row + TRANSFORM], values[row + SOURCE_EMPTY], values[row + SOURCE_SLOW],
                usage(row), download(row));
    }

    private @Nullable Usage usage(int row) {
        return values[row + CPU] == NOT_MEASURED ? null : new Usage(values[row + CPU], values[row + DISK],
                values[row + FAULTS], values[row + SWITCHES] >> Integer.SIZE, (int) values[row + SWITCHES],
                values[row + QUEUED]);
    }

    private @Nullable Download download(int row) {
        int at = row + DOWNLOAD;
        return values[row + REMOTE_READS] == 0 ? null
                : new Download(values[at], values[at + 1], values[at + 2], values[at + 3], values[at + 4]);
    }

    long epoch(int index) {
        return values[row(index) + EPOCH_AND_FIRST] >> 1;
    }

    boolean isFirst(int index) {
        return (values[row(index) + EPOCH_AND_FIRST] & 1) != 0;
    }

    int samples(int index) {
        return (int) values[row(index) + WORKER_AND_SAMPLES];
    }

    long bytes(int index) {
        return values[row(index) + BYTES];
    }
}
