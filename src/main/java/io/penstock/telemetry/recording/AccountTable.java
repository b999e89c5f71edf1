// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Copying;
import io.penstock.telemetry.BatchAccount.Download;
import io.penstock.telemetry.BatchAccount.Making;
import io.penstock.telemetry.BatchAccount.Marked;
import io.penstock.telemetry.BatchAccount.OnDevice;
import io.penstock.telemetry.BatchAccount.Taking;
import io.penstock.telemetry.BatchAccount.Usage;
import io.penstock.telemetry.Phase;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The table of batch accounts: {@value #ROWS} rows in one array, allocated once. A row has up to four parts, each with
 * its own writer. The rows of a part are adjacent:
 *
 * <pre>
 *   part      begins at         written by
 *   making    {@link Column#MADE}      the worker that made the batch, at once
 *   taking    {@link Column#TAKEN}     the thread that takes the batch; what holds it adds compute time and return
 *   copying   {@link Column#COPIED}    the copy thread, which adds the arrival; only if batches are copied
 *   device    {@link Column#TIMED}     the copy thread, some batches later; only if it reads the device's clock
 * </pre>
 *
 * <p>The first column of a part holds the batch's number. {@link #open} clears it before the part is written;
 * {@link #close} sets it when the part is complete. A reader checks the number before and after, and skips the row if
 * it changed. So writers never wait, and pay only a few stores.
 */
final class AccountTable {

    /** Rows: about as many steps as a summary covers. */
    static final int ROWS = 8192;

    /** The columns of all parts, numbered through. */
    private static final class Column {

        static final int MADE = 0;
        static final int CLAIMED_AT = MADE + 1;
        static final int SLOT_AT = CLAIMED_AT + 1;
        static final int PLANNED_AT = SLOT_AT + 1;
        static final int MADE_AT = PLANNED_AT + 1;
        static final int READ = MADE_AT + 1;
        static final int DECODE = READ + 1;
        static final int TRANSFORM = DECODE + 1;
        static final int SOURCE_EMPTY = TRANSFORM + 1;
        static final int SOURCE_SLOW = SOURCE_EMPTY + 1;
        static final int BYTES = SOURCE_SLOW + 1;
        /** The epoch, shifted by a lowest bit that says whether the batch is the first. */
        static final int EPOCH_AND_FIRST = BYTES + 1;
        /** The worker in the upper half, the number of samples in the lower. */
        static final int WORKER_AND_SAMPLES = EPOCH_AND_FIRST + 1;
        /** Not measured if the operating system was not asked; then the next four are meaningless. */
        static final int CPU = WORKER_AND_SAMPLES + 1;
        static final int DISK = CPU + 1;
        static final int FAULTS = DISK + 1;
        /** Voluntary switches in the upper half, involuntary ones in the lower. */
        static final int SWITCHES = FAULTS + 1;
        static final int QUEUED = SWITCHES + 1;
        /** Reads of remote files; if 0, the next ones are meaningless. */
        static final int REMOTE_READS = QUEUED + 1;
        /** In the order of {@link Download}'s components. */
        static final int DOWNLOAD = REMOTE_READS + 1;

        static final int TAKEN = DOWNLOAD + Download.PARTS;
        static final int REQUESTED_AT = TAKEN + 1;
        static final int TAKEN_AT = REQUESTED_AT + 1;
        static final int CLOSED_AT = TAKEN_AT + 1;
        static final int READY_BATCHES = CLOSED_AT + 1;
        static final int FREE_SLOTS = READY_BATCHES + 1;
        static final int COMPUTE = FREE_SLOTS + 1;
        /** Makes the part as long as a cache line. */
        private static final int PADDING = COMPUTE + 1;

        static final int COPIED = PADDING + 1;
        static final int SUBMIT_AT = COPIED + 1;
        static final int SUBMITTED_AT = SUBMIT_AT + 1;
        static final int ARRIVED_AT = SUBMITTED_AT + 1;

        static final int TIMED = ARRIVED_AT + 1;
        static final int DEVICE_COPY = TIMED + 1;
        static final int DEVICE_STAGES = DEVICE_COPY + 1;
        static final int DEVICE_LATE = DEVICE_STAGES + 1;
        static final int DEVICE_EXPOSED = DEVICE_LATE + 1;
        static final int DEVICE_COMPUTE = DEVICE_EXPOSED + 1;
        static final int DEVICE_STEP = DEVICE_COMPUTE + 1;
        /** The first phase, by its ordinal; not measured if none was marked. */
        static final int DEVICE_PHASES = DEVICE_STEP + 1;

        static final int END = DEVICE_PHASES + Phase.values().length;
    }

    private static final int PHASES = Phase.values().length;
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    private final boolean copies;
    private final boolean timed;
    private final long[] values;

    AccountTable(boolean copies, boolean timed) {
        this.copies = copies;
        this.timed = timed;
        this.values = new long[ROWS * (timed ? Column.END : copies ? Column.TIMED : Column.COPIED)];
        Arrays.fill(values, NOT_MEASURED);
    }

    // ---- a row's parts: column c of a part is at values[part + c]

    private static int part(int first, int end, int row) {
        return first * (ROWS - 1) + row * (end - first);
    }

    private static int making(int row) {
        return part(Column.MADE, Column.TAKEN, row);
    }

    private static int taking(int row) {
        return part(Column.TAKEN, Column.COPIED, row);
    }

    private static int copying(int row) {
        return part(Column.COPIED, Column.TIMED, row);
    }

    private static int device(int row) {
        return part(Column.TIMED, Column.END, row);
    }

    /** Starts writing a part, given the index of its number. */
    private void open(int number) {
        ELEMENT.setOpaque(values, number, NOT_MEASURED);
        VarHandle.storeStoreFence();
    }

    private void close(int number, long sequence) {
        ELEMENT.setRelease(values, number, sequence);
    }

    private long number(int number) {
        return (long) ELEMENT.getAcquire(values, number);
    }

    /** Adds a value to a complete part if it still belongs to that batch. */
    private void setIfOf(long sequence, int number, int index, long value) {
        if (number(number) == sequence) {
            ELEMENT.setOpaque(values, index, value);
        }
    }

    // ---- writers

    void made(int row, Filling batch) {
        int part = making(row);
        open(part + Column.MADE);
        values[part + Column.CLAIMED_AT] = batch.claimedAt;
        values[part + Column.SLOT_AT] = batch.slotAt;
        values[part + Column.PLANNED_AT] = batch.plannedAt;
        values[part + Column.MADE_AT] = batch.madeAt;
        values[part + Column.READ] = batch.readNanos;
        values[part + Column.DECODE] = batch.decodeNanos;
        values[part + Column.TRANSFORM] = batch.transformNanos;
        values[part + Column.SOURCE_EMPTY] = batch.sourceEmptyNanos;
        values[part + Column.SOURCE_SLOW] = batch.sourceSlowNanos;
        values[part + Column.BYTES] = batch.bytes;
        values[part + Column.EPOCH_AND_FIRST] = batch.epoch << 1 | (batch.first ? 1 : 0);
        values[part + Column.WORKER_AND_SAMPLES] = (long) batch.worker << Integer.SIZE | batch.samples;
        values[part + Column.CPU] = batch.cpuNanos;
        if (batch.cpuNanos != NOT_MEASURED) {
            values[part + Column.DISK] = batch.diskBytes;
            values[part + Column.FAULTS] = batch.majorFaults;
            values[part + Column.SWITCHES] = batch.voluntarySwitches << Integer.SIZE | batch.involuntarySwitches;
            values[part + Column.QUEUED] = batch.queuedNanos;
        }
        values[part + Column.REMOTE_READS] = batch.remoteReads;
        if (batch.remoteReads > 0) {
            System.arraycopy(batch.downloadNanos, 0, values, part + Column.DOWNLOAD, Download.PARTS);
        }
        close(part + Column.MADE, batch.sequence);
    }

    void taken(int row, long sequence, long requestedAt, long takenAt, int ready, int free) {
        int part = taking(row);
        open(part + Column.TAKEN);
        values[part + Column.REQUESTED_AT] = requestedAt;
        values[part + Column.TAKEN_AT] = takenAt;
        values[part + Column.CLOSED_AT] = NOT_MEASURED;
        values[part + Column.READY_BATCHES] = ready;
        values[part + Column.FREE_SLOTS] = free;
        values[part + Column.COMPUTE] = NOT_MEASURED;
        close(part + Column.TAKEN, sequence);
    }

    void computed(int row, long sequence, long nanos) {
        int part = taking(row);
        setIfOf(sequence, part + Column.TAKEN, part + Column.COMPUTE,
                Math.max(0, values[part + Column.COMPUTE]) + nanos);
    }

    void closed(int row, long sequence, long at) {
        int part = taking(row);
        setIfOf(sequence, part + Column.TAKEN, part + Column.CLOSED_AT, at);
    }

    void submitted(int row, long sequence, long beginAt, long endAt) {
        int part = copying(row);
        open(part + Column.COPIED);
        values[part + Column.SUBMIT_AT] = beginAt;
        values[part + Column.SUBMITTED_AT] = endAt;
        values[part + Column.ARRIVED_AT] = NOT_MEASURED;
        close(part + Column.COPIED, sequence);
    }

    void arrived(int row, long sequence, long at) {
        int part = copying(row);
        setIfOf(sequence, part + Column.COPIED, part + Column.ARRIVED_AT, at);
    }

    void clocked(int row, DeviceTimes batch) {
        int part = device(row);
        open(part + Column.TIMED);
        values[part + Column.DEVICE_COPY] = batch.copyNanos;
        values[part + Column.DEVICE_STAGES] = batch.stageNanos;
        values[part + Column.DEVICE_LATE] = batch.lateNanos;
        values[part + Column.DEVICE_EXPOSED] = batch.exposedNanos;
        values[part + Column.DEVICE_COMPUTE] = batch.computeNanos;
        values[part + Column.DEVICE_STEP] = NOT_MEASURED;
        int phases = part + Column.DEVICE_PHASES;
        if (batch.isMarked) {
            System.arraycopy(batch.phaseNanos, 0, values, phases, PHASES);
        } else {
            Arrays.fill(values, phases, phases + PHASES, NOT_MEASURED);
        }
        close(part + Column.TIMED, batch.sequence);
    }

    /** Adds how long a batch's step took by the device's clock. */
    void stepped(int row, long sequence, long nanos) {
        int part = device(row);
        setIfOf(sequence, part + Column.TIMED, part + Column.DEVICE_STEP, nanos);
    }

    // ---- readers

    /** The batch that was taken last of those with this row; {@link BatchAccount#NOT_MEASURED} while it is written. */
    long sequence(int row) {
        return number(taking(row) + Column.TAKEN);
    }

    /** A returned batch's complete account; null before that, and after it was overwritten. */
    @Nullable BatchAccount account(int row, long sequence) {
        if (!isWhole(row, sequence)) {
            return null;
        }
        int made = making(row);
        Taking taking = readTaking(taking(row));
        long epochAndFirst = values[made + Column.EPOCH_AND_FIRST];
        var account = new BatchAccount(sequence, epochAndFirst >> 1, (epochAndFirst & 1) != 0,
                (int) values[made + Column.WORKER_AND_SAMPLES], values[made + Column.BYTES], readMaking(made),
                copies ? readCopying(copying(row)) : null, taking,
                timed && number(device(row) + Column.TIMED) == sequence ? readDevice(device(row)) : null);
        VarHandle.loadLoadFence();
        return isWhole(row, sequence) && taking.closedAt() != NOT_MEASURED ? account : null;
    }

    private boolean isWhole(int row, long sequence) {
        return number(making(row) + Column.MADE) == sequence && sequence(row) == sequence
                && (!copies || number(copying(row) + Column.COPIED) == sequence);
    }

    private Making readMaking(int part) {
        return new Making((int) (values[part + Column.WORKER_AND_SAMPLES] >> Integer.SIZE),
                values[part + Column.CLAIMED_AT], values[part + Column.SLOT_AT], values[part + Column.PLANNED_AT],
                values[part + Column.MADE_AT], values[part + Column.READ], values[part + Column.DECODE],
                values[part + Column.TRANSFORM], values[part + Column.SOURCE_EMPTY],
                values[part + Column.SOURCE_SLOW], readUsage(part), readDownload(part));
    }

    private @Nullable Usage readUsage(int part) {
        long switches = values[part + Column.SWITCHES];
        return values[part + Column.CPU] == NOT_MEASURED ? null : new Usage(values[part + Column.CPU],
                values[part + Column.DISK], values[part + Column.FAULTS], switches >> Integer.SIZE, (int) switches,
                values[part + Column.QUEUED]);
    }

    private @Nullable Download readDownload(int part) {
        int at = part + Column.DOWNLOAD;
        return values[part + Column.REMOTE_READS] == 0 ? null
                : new Download(values[at], values[at + 1], values[at + 2], values[at + 3], values[at + 4]);
    }

    private Taking readTaking(int part) {
        return new Taking(values[part + Column.REQUESTED_AT], values[part + Column.TAKEN_AT],
                values[part + Column.CLOSED_AT], values[part + Column.COMPUTE],
                (int) values[part + Column.READY_BATCHES], (int) values[part + Column.FREE_SLOTS]);
    }

    private Copying readCopying(int part) {
        return new Copying(values[part + Column.SUBMIT_AT], values[part + Column.SUBMITTED_AT],
                values[part + Column.ARRIVED_AT]);
    }

    private OnDevice readDevice(int part) {
        int phases = part + Column.DEVICE_PHASES;
        Marked marked = values[phases] == NOT_MEASURED ? null : new Marked(
                values[phases + Phase.COMPUTE.ordinal()], values[phases + Phase.FORWARD.ordinal()],
                values[phases + Phase.BACKWARD.ordinal()], values[phases + Phase.OPTIMIZER.ordinal()]);
        return new OnDevice(values[part + Column.DEVICE_COPY], values[part + Column.DEVICE_STAGES],
                values[part + Column.DEVICE_LATE], values[part + Column.DEVICE_EXPOSED],
                values[part + Column.DEVICE_COMPUTE], values[part + Column.DEVICE_STEP], marked);
    }
}
