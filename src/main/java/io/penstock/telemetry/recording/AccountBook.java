// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.os.CacheLine;
import io.penstock.telemetry.Accounts;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Taking;
import io.penstock.telemetry.Phase;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The accounts of the latest batches, in tables allocated once. A batch has a row in each of three tables, written by
 * the worker that makes it, the copy thread, and the thread that takes and closes it.
 *
 * <p>While steps take less than {@value #QUICK_NANOS} ns, accounting for each would cost some percent of a step. Then
 * only {@value #BURST} consecutive batches in every {@value #PERIOD} have an account.
 */
public final class AccountBook implements Accounts {

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int PROBE_ROUNDS = 8;
    static final long QUICK_NANOS = 20_000;
    private static final long MOST_PACE_NANOS = 8 * QUICK_NANOS;
    /** The pace is a moving mean over about 2 to this power steps. */
    private static final int PACE_SHIFT = 6;
    static final int PERIOD = 512;
    static final int BURST = 32;

    private final MakingTable making = new MakingTable();
    /** Null if batches are lent without a copy. */
    private final @Nullable CopyingTable copying;
    private final TakingTable taking = new TakingTable();
    /** Null if the device's clock is not used. */
    private final @Nullable DeviceTable onDevice;
    private PhaseMarks marks = PhaseMarks.NONE;

    /** Written for every batch by the thread that takes batches: on its own cache line. */
    private final long[] taker = new long[CacheLine.SLOTS];
    private static final int NEWEST = CacheLine.MIDDLE;
    private static final int LAST_KEPT = CacheLine.MIDDLE + 1;
    private static final int LAST_REQUESTED = CacheLine.MIDDLE + 2;
    /** Recent time per step, in nanoseconds. */
    private static final int PACE = CacheLine.MIDDLE + 3;
    /** Whether steps are quick: every thread reads it for every batch, but it rarely changes. */
    private final long[] quick = new long[CacheLine.SLOTS];

    AccountBook(boolean copies, boolean timed) {
        copying = copies ? new CopyingTable() : null;
        onDevice = timed ? new DeviceTable() : null;
        taker[NEWEST] = NOT_MEASURED;
        taker[LAST_KEPT] = NOT_MEASURED;
        taker[PACE] = MOST_PACE_NANOS;
    }

    private boolean isQuick() {
        return (long) ELEMENT.getOpaque(quick, CacheLine.MIDDLE) != 0;
    }

    /** Whether a batch has an account. Threads may get different answers while the pace changes. */
    boolean keeps(long sequence) {
        return !isQuick() || sequence % PERIOD < BURST;
    }

    /** The index of a batch's rows. */
    private int index(long sequence) {
        long kept = isQuick() ? sequence / PERIOD * BURST + sequence % PERIOD : sequence;
        return (int) (kept & (AccountTable.ROWS - 1));
    }

    /** A worker has made a batch. */
    void made(Filling batch) {
        making.write(index(batch.sequence), batch);
    }

    /** The copy thread has enqueued a copy. */
    void submitted(long sequence, long beginAt, long endAt) {
        Objects.requireNonNull(copying).submitted(index(sequence), sequence, beginAt, endAt);
    }

    /** The copy thread has seen a copy complete. */
    void arrived(long sequence, long at) {
        Objects.requireNonNull(copying).arrived(index(sequence), sequence, at);
    }

    /** The copy thread has read the device's clock. */
    void clocked(DeviceTimes times) {
        DeviceTable table = Objects.requireNonNull(onDevice);
        if (times.previousStepNanos != NOT_MEASURED) {
            table.stepped(index(times.sequence - 1), times.sequence - 1, times.previousStepNanos);
        }
        table.write(index(times.sequence), times);
    }

    // ---- the trainer's thread

    /**
     * A batch was taken when {@code ready} batches were complete, {@link BatchAccount#NOT_MEASURED} if not read, and
     * {@code free} slots empty.
     */
    void taken(long sequence, long requestedAt, long takenAt, int ready, int free) {
        taking.taken(index(sequence), sequence, requestedAt, takenAt, ready, free);
        ELEMENT.setRelease(taker, NEWEST, sequence);
        if (sequence == taker[LAST_KEPT] + 1) {
            pace(requestedAt - taker[LAST_REQUESTED]);
        }
        taker[LAST_KEPT] = sequence;
        taker[LAST_REQUESTED] = requestedAt;
    }

    /** A batch without an account was taken. */
    void passed(long sequence, long waitNanos) {
        ELEMENT.setRelease(taker, NEWEST, sequence);
        pace(waitNanos);
    }

    /** Updates the pace; one slow step among many quick ones does not change the mode. */
    private void pace(long nanos) {
        long pace = taker[PACE];
        pace += Math.min(nanos, MOST_PACE_NANOS) - pace >> PACE_SHIFT;
        taker[PACE] = pace;
        boolean isQuick = isQuick();
        if (isQuick ? pace > 2 * QUICK_NANOS : pace < QUICK_NANOS) {
            ELEMENT.setOpaque(quick, CacheLine.MIDDLE, isQuick ? 0L : 1L);
        }
    }

    /** Any thread returned a batch. */
    void closed(long sequence, long at) {
        taking.closed(index(sequence), sequence, at);
    }

    @Override
    public void computed(long sequence, long nanos) {
        taking.computed(index(sequence), sequence, nanos);
    }

    /** Sets what marks on the device. Called before the loader is used. */
    void markBy(PhaseMarks onStream) {
        marks = onStream;
    }

    @Override
    public void began(long sequence, @Nullable Phase phase) {
        marks.mark(sequence, phase);
    }

    /** Returns the measured cost of one batch's account in nanoseconds, without clock reads that happen anyway. */
    public static double nanosPerBatch() {
        var scratch = new AccountBook(false, false);
        var batch = new Filling(0);
        long best = Long.MAX_VALUE;
        for (int round = 0; round < PROBE_ROUNDS; round++) {
            long begin = System.nanoTime();
            for (int i = 0; i < AccountTable.ROWS; i++) {
                batch.sequence = i;
                scratch.made(batch);
                long now = System.nanoTime();
                scratch.taken(i, now, now, 0, 0);
                scratch.closed(i, System.nanoTime());
            }
            best = Math.min(best, System.nanoTime() - begin);
        }
        return (double) best / AccountTable.ROWS;
    }

    // ---- readers

    @Override
    public long newest() {
        return (long) ELEMENT.getAcquire(taker, NEWEST);
    }

    @Override
    public List<BatchAccount> since(long from) {
        List<BatchAccount> accounts = new ArrayList<>();
        for (int index = 0; index < AccountTable.ROWS; index++) {
            long sequence = taking.number(index);
            BatchAccount account = sequence < Math.max(0, from) ? null : account(index, sequence);
            if (account != null) {
                accounts.add(account);
            }
        }
        accounts.sort(Comparator.comparingLong(BatchAccount::sequence));
        return accounts;
    }

    /** A returned batch's complete account; null before that, and after it was overwritten. */
    @Nullable BatchAccount account(long sequence) {
        return account(index(sequence), sequence);
    }

    private @Nullable BatchAccount account(int index, long sequence) {
        if (!isWhole(index, sequence)) {
            return null;
        }
        Taking took = taking.taking(index);
        var account = new BatchAccount(sequence, making.epoch(index), making.isFirst(index), making.samples(index),
                making.bytes(index), making.making(index), copying == null ? null : copying.copying(index), took,
                onDevice == null || !onDevice.has(index, sequence) ? null : onDevice.onDevice(index));
        VarHandle.loadLoadFence();
        return isWhole(index, sequence) && took.closedAt() != NOT_MEASURED ? account : null;
    }

    private boolean isWhole(int index, long sequence) {
        return making.has(index, sequence) && taking.has(index, sequence)
                && (copying == null || copying.has(index, sequence));
    }
}
