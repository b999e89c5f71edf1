package io.penstock.loader.workers;

import io.penstock.loader.slots.LoaderFailure;
import io.penstock.loader.slots.Run;
import io.penstock.loader.slots.SpinGate;
import java.util.function.LongSupplier;

/**
 * Where a worker stands back while the trainer's thread fills in its place: when there are more threads that fill than
 * processors, one of them is always interrupted in the middle of a batch, which all others then wait for.
 *
 * <p>It looks again each {@value #PAUSE_NANOS} ns, so that it is back soon after the trainer has gone to compute.
 */
public final class Standby extends SpinGate {

    /** How often a worker looks whether the trainer fills. */
    static final long LOOK_NANOS = 200_000;
    static final long PAUSE_NANOS = 1_000_000;

    private final LongSupplier trainerFillNanos;
    private final LoaderFailure failure;
    private final LongSupplier nanoTime;
    private Run run;
    private long lookedAt;
    private long filledThen;

    /**
     * For one worker.
     *
     * @param trainerFillNanos what the trainer's thread has spent on filling so far
     */
    @SuppressWarnings("NullAway.Init") // standBack(…) sets the run before it waits
    public Standby(LongSupplier trainerFillNanos, LoaderFailure failure, LongSupplier nanoTime) {
        super(0);
        this.trainerFillNanos = trainerFillNanos;
        this.failure = failure;
        this.nanoTime = nanoTime;
    }

    @Override
    protected boolean isOpen() {
        return run.isCancelled() || failure.isOver();
    }

    /**
     * Stands back as long as the trainer's thread does little but fill. Called by a worker that has claimed nothing.
     *
     * @param now what the clock says
     * @return what the clock says now
     */
    long standBack(Run of, long now) {
        if (now - lookedAt < LOOK_NANOS) {
            return now;
        }
        run = of;
        long later = now;
        while (trainerFilled(later) && !awaitNanos(PAUSE_NANOS)) {
            later = nanoTime.getAsLong();
        }
        return later;
    }

    /** Whether filling was most of what the trainer's thread did since the worker last looked. */
    private boolean trainerFilled(long now) {
        long filled = trainerFillNanos.getAsLong();
        boolean most = 2 * (filled - filledThen) > now - lookedAt;
        filledThen = filled;
        lookedAt = now;
        return most;
    }
}
