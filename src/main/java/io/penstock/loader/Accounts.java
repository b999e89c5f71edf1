package io.penstock.loader;

import static io.penstock.loader.BatchAccount.NOT_MEASURED;

import io.penstock.loader.BatchAccount.Copying;
import io.penstock.loader.BatchAccount.Making;
import io.penstock.loader.BatchAccount.Taking;
import io.penstock.loader.BatchAccount.Usage;
import io.penstock.loader.events.TakeEvents;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * The accounts of the latest batches, in arrays that are allocated once.
 *
 * <p>A batch has a row in each of three tables, each written by one thread at a time: the worker that makes the batch,
 * the copy thread, the thread that takes and closes it. A row is {@linkplain Table#open opened} before it is written
 * and told by its batch's number when it is whole; whoever reads it looks at that number before and after, and leaves
 * the row out if it changed meanwhile. So writers never wait, and cost some stores.
 *
 * <p>While steps take less than {@value #QUICK_NANOS} ns, an account of each would cost some percent of them: then only
 * {@value #BURST} batches in a row of each {@value #PERIOD} have one, which keeps neighbours together.
 */
public final class Accounts {

    /** Rows: as many steps as a summary looks at, or so. */
    static final int STEPS = 8192;

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int FIRST_FLAG = 1;
    private static final int PROBE_ROUNDS = 8;
    static final long QUICK_NANOS = 20_000;
    private static final long MOST_PACE_NANOS = 8 * QUICK_NANOS;
    /** The pace is a mean over the latest steps, to the power of two, or so. */
    private static final int PACE_SHIFT = 6;
    static final int PERIOD = 512;
    static final int BURST = 32;

    /** Rows of one kind. */
    private static final class Table {

        private static final int NUMBER = 0;
        private final int columns;
        private final long[] values;

        Table(int columns) {
            this.columns = columns;
            this.values = new long[STEPS * columns];
            for (int row = 0; row < STEPS; row++) {
                values[row * columns] = NOT_MEASURED;
            }
        }

        int open(int index) {
            int row = index * columns;
            ELEMENT.setOpaque(values, row + NUMBER, NOT_MEASURED);
            VarHandle.storeStoreFence();
            return row;
        }

        void close(int row, long sequence) {
            ELEMENT.setRelease(values, row + NUMBER, sequence);
        }

        /** The batch that a row is of; {@link BatchAccount#NOT_MEASURED} while it is written. */
        long number(int index) {
            return (long) ELEMENT.getAcquire(values, index * columns + NUMBER);
        }
    }

    /** Columns of a worker's row behind the number. */
    private static final int CLAIMED = 1;
    private static final int SLOT = 2;
    private static final int PLANNED = 3;
    private static final int MADE = 4;
    private static final int READ = 5;
    private static final int DECODE = 6;
    private static final int TRANSFORM = 7;
    private static final int BYTES = 8;
    private static final int EPOCH_AND_FIRST = 9;
    private static final int WORKER_AND_SAMPLES = 10;
    private static final int CPU = 11;
    private static final int DISK = 12;
    private static final int FAULTS = 13;
    private static final int SWITCHES = 14;
    private static final int QUEUED = 15;
    private final Table making = new Table(16);

    private static final int SUBMIT = 1;
    private static final int SUBMITTED = 2;
    private static final int ARRIVED = 3;
    /** Null if batches are lent where they are made. */
    private final Table copying;

    private static final int REQUESTED = 1;
    private static final int TAKEN = 2;
    private static final int CLOSED = 3;
    private static final int READY = 4;
    private static final int FREE = 5;
    private static final int COMPUTE = 6;
    private final Table taking = new Table(8);

    /** Of the thread that takes batches, which writes them for every batch: on a cache line of their own. */
    private final long[] taker = new long[CacheLine.SLOTS];
    private static final int NEWEST = CacheLine.MIDDLE;
    private static final int LAST_KEPT = CacheLine.MIDDLE + 1;
    private static final int LAST_REQUESTED = CacheLine.MIDDLE + 2;
    /** What a step takes of late, in nanoseconds. */
    private static final int PACE = CacheLine.MIDDLE + 3;
    /** Read for every batch by all, and seldom written: whether steps are quick. */
    private final long[] quick = new long[CacheLine.SLOTS];
    final TakeEvents events;
    private final LongSupplier nanoTime;

    /**
     * For one loader.
     *
     * @param copies whether batches are copied
     * @param loader the loader's name
     * @param filledSlots how many slots have a batch in them
     * @param firstRecording what to do when events are recorded for the first time
     * @param nanoTime what the accounts tell the time by
     */
    Accounts(boolean copies, String loader, IntSupplier filledSlots, Runnable firstRecording, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        copying = copies ? new Table(4) : null;
        events = new TakeEvents(loader, filledSlots, sequence -> account(index(sequence), sequence),
                firstRecording);
        taker[NEWEST] = NOT_MEASURED;
        taker[LAST_KEPT] = NOT_MEASURED;
        taker[PACE] = MOST_PACE_NANOS;
    }

    private boolean isQuick() {
        return (long) ELEMENT.getOpaque(quick, CacheLine.MIDDLE) != 0;
    }

    /** Whether a batch has an account. Whoever asks about a batch while the pace changes may hear different things. */
    boolean keeps(long sequence) {
        return !isQuick() || sequence % PERIOD < BURST;
    }

    /** Where the rows of a batch are. */
    private int index(long sequence) {
        long kept = isQuick() ? sequence / PERIOD * BURST + sequence % PERIOD : sequence;
        return (int) (kept & (STEPS - 1));
    }

    // ---- workers

    /** The row of a batch that a worker made; {@link #usage} may follow, and {@link #made} ends it. */
    int making(long sequence, long claimed, long slot, long planned, long made) {
        int row = making.open(index(sequence));
        long[] values = making.values;
        values[row + CLAIMED] = claimed;
        values[row + SLOT] = slot;
        values[row + PLANNED] = planned;
        values[row + MADE] = made;
        return row;
    }

    void stages(int row, long read, long decode, long transform) {
        making.values[row + READ] = read;
        making.values[row + DECODE] = decode;
        making.values[row + TRANSFORM] = transform;
    }

    void usage(int row, long cpu, long disk, long faults, long voluntary, long involuntary, long queued) {
        long[] values = making.values;
        values[row + CPU] = cpu;
        values[row + DISK] = disk;
        values[row + FAULTS] = faults;
        values[row + SWITCHES] = voluntary << Integer.SIZE | involuntary;
        values[row + QUEUED] = queued;
    }

    void noUsage(int row) {
        making.values[row + CPU] = NOT_MEASURED;
    }

    void made(int row, long sequence, int worker, int samples, long bytes, long epoch, boolean first) {
        making.values[row + BYTES] = bytes;
        making.values[row + EPOCH_AND_FIRST] = epoch << 1 | (first ? FIRST_FLAG : 0);
        making.values[row + WORKER_AND_SAMPLES] = (long) worker << Integer.SIZE | samples;
        making.close(row, sequence);
    }

    // ---- the copy thread

    void submitted(long sequence, long begin, long end) {
        int row = copying.open(index(sequence));
        copying.values[row + SUBMIT] = begin;
        copying.values[row + SUBMITTED] = end;
        copying.values[row + ARRIVED] = NOT_MEASURED;
        copying.close(row, sequence);
    }

    void arrived(long sequence, long at) {
        int index = index(sequence);
        if (copying.number(index) == sequence) {
            ELEMENT.setOpaque(copying.values, index * copying.columns + ARRIVED, at);
        }
    }

    // ---- the trainer's thread

    /**
     * A batch was taken.
     *
     * @param ready how many stood made when it was asked for; {@link BatchAccount#NOT_MEASURED} if nobody looked
     * @param free how many slots had nothing in them
     */
    void taken(long sequence, long requested, long taken, int ready, int free) {
        int row = taking.open(index(sequence));
        long[] values = taking.values;
        values[row + REQUESTED] = requested;
        values[row + TAKEN] = taken;
        values[row + CLOSED] = NOT_MEASURED;
        values[row + READY] = ready;
        values[row + FREE] = free;
        values[row + COMPUTE] = NOT_MEASURED;
        taking.close(row, sequence);
        ELEMENT.setRelease(taker, NEWEST, sequence);
        if (sequence == taker[LAST_KEPT] + 1) {
            pace(requested - taker[LAST_REQUESTED]);
        }
        taker[LAST_KEPT] = sequence;
        taker[LAST_REQUESTED] = requested;
    }

    /** A batch was taken that has no account. */
    void passed(long sequence, long waitNanos) {
        ELEMENT.setRelease(taker, NEWEST, sequence);
        pace(waitNanos);
    }

    /** One slow step among many quick ones changes nothing. */
    private void pace(long nanos) {
        long pace = taker[PACE];
        pace += Math.min(nanos, MOST_PACE_NANOS) - pace >> PACE_SHIFT;
        taker[PACE] = pace;
        boolean isQuick = isQuick();
        if (isQuick ? pace > 2 * QUICK_NANOS : pace < QUICK_NANOS) {
            ELEMENT.setOpaque(quick, CacheLine.MIDDLE, isQuick ? 0L : 1L);
        }
    }

    /** A batch is given back, by whatever thread has it. */
    void givenBack(long sequence) {
        if (keeps(sequence)) {
            closed(sequence, nanoTime.getAsLong());
        }
        if (events.isWatched()) {
            events.closed(sequence);
        }
    }

    private void closed(long sequence, long at) {
        int index = index(sequence);
        if (taking.number(index) == sequence) {
            ELEMENT.setOpaque(taking.values, index * taking.columns + CLOSED, at);
        }
    }

    /**
     * Adds time that the trainer marks as computing on a batch: without any, the time that it holds the batch stands
     * for that. Called by the thread that has the batch.
     *
     * @param sequence the batch's number in the loader's life
     * @param nanos time spent
     */
    public void computed(long sequence, long nanos) {
        int index = index(sequence);
        if (taking.number(index) == sequence) {
            int at = index * taking.columns + COMPUTE;
            ELEMENT.setOpaque(taking.values, at, Math.max(0, taking.values[at]) + nanos);
        }
    }

    /**
     * Measures what keeping one batch's account costs on this machine, without the clocks that are read all the same.
     *
     * @return nanoseconds
     */
    public static double nanosPerBatch() {
        var scratch = new Accounts(false, "", () -> 0, () -> { }, System::nanoTime);
        long best = Long.MAX_VALUE;
        for (int round = 0; round < PROBE_ROUNDS; round++) {
            long begin = System.nanoTime();
            for (int i = 0; i < STEPS; i++) {
                int row = scratch.making(i, begin, begin, begin, begin);
                scratch.stages(row, 0, 0, 0);
                scratch.noUsage(row);
                scratch.made(row, i, 0, 1, 1, 0, false);
                long now = System.nanoTime();
                scratch.taken(i, now, now, 0, 0);
                scratch.closed(i, System.nanoTime());
            }
            best = Math.min(best, System.nanoTime() - begin);
        }
        return (double) best / STEPS;
    }

    // ---- whoever looks

    /**
     * The batch that was taken last.
     *
     * @return its number; {@link BatchAccount#NOT_MEASURED} before the first
     */
    public long newest() {
        return (long) ELEMENT.getAcquire(taker, NEWEST);
    }

    /**
     * The accounts that are whole, of batches that were given back. May be called by any thread.
     *
     * @param from the first batch to look at
     * @return in order; the latest some thousand at most
     */
    public List<BatchAccount> since(long from) {
        List<BatchAccount> accounts = new ArrayList<>();
        for (int index = 0; index < STEPS; index++) {
            long sequence = taking.number(index);
            BatchAccount account = sequence < Math.max(0, from) ? null : account(index, sequence);
            if (account != null) {
                accounts.add(account);
            }
        }
        accounts.sort(Comparator.comparingLong(BatchAccount::sequence));
        return accounts;
    }

    private BatchAccount account(int index, long sequence) {
        if (!isWhole(index, sequence)) {
            return null;
        }
        int m = index * making.columns;
        int t = index * taking.columns;
        long[] made = making.values;
        long[] took = taking.values;
        Usage usage = made[m + CPU] == NOT_MEASURED ? null : new Usage(made[m + CPU], made[m + DISK],
                made[m + FAULTS], made[m + SWITCHES] >> Integer.SIZE, (int) made[m + SWITCHES], made[m + QUEUED]);
        var account = new BatchAccount(sequence, made[m + EPOCH_AND_FIRST] >> 1,
                (made[m + EPOCH_AND_FIRST] & FIRST_FLAG) != 0, (int) made[m + WORKER_AND_SAMPLES], made[m + BYTES],
                new Making((int) (made[m + WORKER_AND_SAMPLES] >> Integer.SIZE), made[m + CLAIMED], made[m + SLOT],
                        made[m + PLANNED], made[m + MADE], made[m + READ], made[m + DECODE], made[m + TRANSFORM],
                        usage),
                copied(index), new Taking(took[t + REQUESTED], took[t + TAKEN], took[t + CLOSED], NOT_MEASURED,
                        took[t + COMPUTE], (int) took[t + READY], (int) took[t + FREE]));
        VarHandle.loadLoadFence();
        return isWhole(index, sequence) && account.taking().closedAt() != NOT_MEASURED ? account : null;
    }

    private boolean isWhole(int index, long sequence) {
        return making.number(index) == sequence && taking.number(index) == sequence
                && (copying == null || copying.number(index) == sequence);
    }

    private Copying copied(int index) {
        if (copying == null) {
            return null;
        }
        int row = index * copying.columns;
        return new Copying(copying.values[row + SUBMIT], copying.values[row + SUBMITTED],
                copying.values[row + ARRIVED], NOT_MEASURED);
    }
}
