// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.os.CacheLine;
import io.penstock.os.ThreadUsage;
import io.penstock.telemetry.Accounts;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.Phase;
import io.penstock.telemetry.recording.Telemetry.LoaderIdentity;
import io.penstock.telemetry.recording.Telemetry.PhaseMarks;
import io.penstock.telemetry.recording.Telemetry.SlotLevels;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the accounts of the latest batches.
 *
 * <p>While steps take less than {@value #QUICK_NANOS} ns, accounting for each would cost some percent of a step. Then
 * only {@value #BURST} consecutive batches in every {@value #PERIOD} have an account.
 */
final class BatchAccounts implements LoaderProbe, Accounts {

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int COST_ROUNDS = 8;
    private static final int USAGE_ROUNDS = 100;
    static final long QUICK_NANOS = 20_000;
    private static final long MOST_PACE_NANOS = 8 * QUICK_NANOS;
    /** The pace is a moving mean over about 2 to this power steps. */
    private static final int PACE_SHIFT = 6;
    static final int PERIOD = 512;
    static final int BURST = 32;
    /** Minimum wait after which the trainer's thread reads how full the slots are; it also does so periodically. */
    private static final long LEVEL_NANOS = 20_000;
    private static final int LEVEL_EVERY = 16;

    private final AccountTable table;
    private final UsageMeter[] meters;
    private final SlotLevels slots;
    private final LongSupplier nanoTime;
    private PhaseMarks marks = (_, _) -> { };

    /** Written for every batch by the thread that takes batches: on its own cache line. */
    private final long[] taker = new long[CacheLine.SLOTS];
    private static final int NEWEST = CacheLine.MIDDLE;
    private static final int LAST_KEPT = CacheLine.MIDDLE + 1;
    private static final int LAST_REQUESTED = CacheLine.MIDDLE + 2;
    /** Recent time per step, in nanoseconds. */
    private static final int PACE = CacheLine.MIDDLE + 3;
    /** Whether steps are quick: every thread reads it for every batch, but it rarely changes. */
    private final long[] quick = new long[CacheLine.SLOTS];

    BatchAccounts(LoaderIdentity of, SlotLevels slots, LongSupplier nanoTime) {
        this.table = new AccountTable(of.copies(), of.timed());
        this.slots = slots;
        this.nanoTime = nanoTime;
        this.meters = new UsageMeter[of.fillers()];
        Arrays.setAll(meters, _ -> new UsageMeter(nanoTime == Telemetry.MACHINE_TIME));
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

    private int row(long sequence) {
        long kept = isQuick() ? sequence / PERIOD * BURST + sequence % PERIOD : sequence;
        return (int) (kept & (AccountTable.ROWS - 1));
    }

    // ---- filling threads

    @Override
    public void claimed(Filling batch) {
        batch.kept = keeps(batch.sequence);
    }

    @Override
    public void planned(Filling batch) {
        meters[batch.worker].begin(batch);
    }

    @Override
    public void filled(Filling batch) {
        meters[batch.worker].end(batch);
        if (batch.kept) {
            made(batch);
        }
    }

    void made(Filling batch) {
        table.made(row(batch.sequence), batch);
    }

    // ---- the copy thread

    @Override
    public void submitted(long sequence, long bytes, long beginAt, long endAt) {
        if (keeps(sequence)) {
            table.submitted(row(sequence), sequence, beginAt, endAt);
        }
    }

    @Override
    public void arrived(long sequence) {
        if (keeps(sequence)) {
            table.arrived(row(sequence), sequence, nanoTime.getAsLong());
        }
    }

    @Override
    public void clocked(DeviceTimes times) {
        if (keeps(times.sequence)) {
            if (times.previousStepNanos != NOT_MEASURED) {
                table.stepped(row(times.sequence - 1), times.sequence - 1, times.previousStepNanos);
            }
            table.clocked(row(times.sequence), times);
        }
    }

    // ---- the trainer's thread

    @Override
    public void taken(long sequence, long requestedAt, long takenAt, int samples, int replaced) {
        boolean waited = requestedAt != NOT_MEASURED;
        if (keeps(sequence)) {
            long at = waited ? takenAt : nanoTime.getAsLong();
            takenAt(sequence, waited ? requestedAt : at, at);
        } else {
            ELEMENT.setRelease(taker, NEWEST, sequence);
            pace(waited ? takenAt - requestedAt : 0);
        }
    }

    /** Reads the slots, whose cache lines belong to the workers, only after a wait or periodically. */
    private void takenAt(long sequence, long requestedAt, long takenAt) {
        boolean reads = takenAt - requestedAt >= LEVEL_NANOS || sequence % LEVEL_EVERY == 0;
        kept(sequence, requestedAt, takenAt, reads ? slots.madeFrom(sequence) : (int) NOT_MEASURED,
                reads ? slots.empty() : (int) NOT_MEASURED);
    }

    /**
     * A batch was taken when {@code ready} batches were complete, {@link BatchAccount#NOT_MEASURED} if not read, and
     * {@code free} slots empty.
     */
    void kept(long sequence, long requestedAt, long takenAt, int ready, int free) {
        table.taken(row(sequence), sequence, requestedAt, takenAt, ready, free);
        ELEMENT.setRelease(taker, NEWEST, sequence);
        if (sequence == taker[LAST_KEPT] + 1) {
            pace(requestedAt - taker[LAST_REQUESTED]);
        }
        taker[LAST_KEPT] = sequence;
        taker[LAST_REQUESTED] = requestedAt;
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
    @Override
    public void closed(long sequence) {
        if (keeps(sequence)) {
            table.closed(row(sequence), sequence, nanoTime.getAsLong());
        }
    }

    @Override
    public void computed(long sequence, long nanos) {
        table.computed(row(sequence), sequence, nanos);
    }

    /** Sets what marks on the device. Called before the loader is used. */
    void markBy(PhaseMarks onStream) {
        marks = onStream;
    }

    @Override
    public void began(long sequence, @Nullable Phase phase) {
        marks.mark(sequence, phase);
    }

    // ---- readers

    @Override
    public long newest() {
        return (long) ELEMENT.getAcquire(taker, NEWEST);
    }

    @Override
    public List<BatchAccount> since(long from) {
        List<BatchAccount> accounts = new ArrayList<>();
        for (int row = 0; row < AccountTable.ROWS; row++) {
            long sequence = table.sequence(row);
            BatchAccount account = sequence < Math.max(0, from) ? null : table.account(row, sequence);
            if (account != null) {
                accounts.add(account);
            }
        }
        accounts.sort(Comparator.comparingLong(BatchAccount::sequence));
        return accounts;
    }

    /** A returned batch's complete account; null before that, and after it was overwritten. */
    @Nullable BatchAccount account(long sequence) {
        return table.account(row(sequence), sequence);
    }

    /** Call only when no thread calls the probe any more. */
    @Override
    public void close() {
        Stream.of(meters).forEach(UsageMeter::close);
    }

    // ---- what it costs

    @Override
    public double costNanos(List<BatchAccount> accounts) {
        if (accounts.isEmpty()) {
            return 0;
        }
        double asked = accounts.stream().filter(account -> account.making().usage() != null).count();
        double queues = accounts.stream().filter(account -> account.making().usage() != null
                && account.making().usage().queuedNanos() >= 0).count();
        double steps = accounts.getLast().sequence() - accounts.getFirst().sequence() + 1;
        try (var usage = new ThreadUsage()) {
            return (accounts.size() * nanosPerBatch() + 2 * asked * nanosPerCall(usage::read)
                    + 2 * queues * nanosPerCall(usage::queuedNanos)) / steps;
        }
    }

    /** Returns the measured cost of one batch's account in nanoseconds, without clock reads that happen anyway. */
    static double nanosPerBatch() {
        var scratch = new AccountTable(false, false);
        var batch = new Filling(0);
        long best = Long.MAX_VALUE;
        for (int round = 0; round < COST_ROUNDS; round++) {
            long begin = System.nanoTime();
            for (int row = 0; row < AccountTable.ROWS; row++) {
                batch.sequence = row;
                scratch.made(row, batch);
                long now = System.nanoTime();
                scratch.taken(row, row, now, now, 0, 0);
                scratch.closed(row, row, System.nanoTime());
            }
            best = Math.min(best, System.nanoTime() - begin);
        }
        return (double) best / AccountTable.ROWS;
    }

    private static double nanosPerCall(Runnable call) {
        call.run();
        long begin = System.nanoTime();
        for (int i = 0; i < USAGE_ROUNDS; i++) {
            call.run();
        }
        return (double) (System.nanoTime() - begin) / USAGE_ROUNDS;
    }

    /**
     * Asks the operating system what one thread used for the batches it makes: for every batch where that cost is
     * negligible, else for one in {@value #ASK_EVERY}.
     */
    private static final class UsageMeter implements AutoCloseable {

        /** From here on, a batch takes a hundred times as long as the question. */
        static final long ASK_NANOS = 100_000;
        static final int ASK_EVERY = 16;

        /** From here on, it takes a hundred times as long as asking for the time that the thread was queued. */
        static final long ASK_QUEUE_NANOS = 400_000;

        private final ThreadUsage usage = new ThreadUsage();
        private final boolean asks;
        private boolean asked;
        private int notAsked = ASK_EVERY;
        private long lastNanos;
        private long cpuNanos;
        private long diskBytes;
        private long majorFaults;
        private long voluntarySwitches;
        private long involuntarySwitches;
        private long queuedNanos;

        /** Asks only if accounts use the operating system's clock. */
        UsageMeter(boolean asks) {
            this.asks = asks && ThreadUsage.AVAILABLE;
        }

        /** Samples are about to be read. */
        void begin(Filling batch) {
            asked = batch.kept && asks && (lastNanos >= ASK_NANOS || ++notAsked >= ASK_EVERY);
            if (asked) {
                notAsked = 0;
                usage.read();
                cpuNanos = usage.cpuNanos();
                diskBytes = usage.diskBytes();
                majorFaults = usage.majorFaults();
                voluntarySwitches = usage.voluntarySwitches();
                involuntarySwitches = usage.involuntarySwitches();
                queuedNanos = lastNanos >= ASK_QUEUE_NANOS ? usage.queuedNanos() : BatchAccount.NOT_MEASURED;
            }
        }

        /** The batch is complete: stores what it used. */
        void end(Filling batch) {
            if (batch.kept) {
                lastNanos = batch.madeAt - batch.plannedAt;
            }
            if (!asked) {
                batch.cpuNanos = BatchAccount.NOT_MEASURED;
                return;
            }
            asked = false;
            usage.read();
            batch.cpuNanos = usage.cpuNanos() - cpuNanos;
            batch.diskBytes = usage.diskBytes() - diskBytes;
            batch.majorFaults = usage.majorFaults() - majorFaults;
            batch.voluntarySwitches = usage.voluntarySwitches() - voluntarySwitches;
            batch.involuntarySwitches = usage.involuntarySwitches() - involuntarySwitches;
            batch.queuedNanos = queuedNanos < 0 ? BatchAccount.NOT_MEASURED : usage.queuedNanos() - queuedNanos;
        }

        @Override
        public void close() {
            usage.close();
        }
    }
}
