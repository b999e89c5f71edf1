// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The time of a test: it stands still while any thread of a loader, or the trainer, has something to do, and moves on
 * to the next awakening when all are asleep in it or wait for each other. So what a batch takes is what the test says,
 * whatever the machine does meanwhile, while workers, slots and waits are the loader's own.
 *
 * <p>A worker waits if the slot of the batch that it has claimed is not free; the trainer, if it has asked for a batch
 * that is not made. Both are read off the ring: neither depends on what the scheduler did. For loaders that lend their
 * slots in place, in one run without an end, whose data is in order; for others, {@link #advance} moves the time.
 */
public final class SteppedTime implements LongSupplier, AutoCloseable {

    /** No real clock comes here, so no pause of the JVM is taken for one in this time. */
    private static final long ORIGIN = 1L << 60;
    /** Real time between two looks at whether the others have come to rest. */
    private static final long LOOK_MILLIS = 1;

    /** A thread asleep, and the batch that it is at. */
    private record Sleep(long until, long batch) {
    }

    private final Thread trainer = Thread.currentThread();
    private final Map<Thread, Sleep> asleep = new HashMap<>();
    private long now = ORIGIN;
    private DataLoader loader;
    private int workers;
    private long asked = -1;
    private boolean requested;
    private boolean ended;

    /**
     * Opens a loader in this time. Called by the thread that takes its batches, which made this.
     *
     * @param settings the loader's
     * @return the loader
     */
    public DataLoader open(DataLoaderBuilder settings) {
        settings.nanoTime = this;
        DataLoader opened = settings.open();
        synchronized (this) {
            loader = opened;
            workers = settings.workers;
        }
        return opened;
    }

    @Override
    public synchronized long getAsLong() {
        requested |= asked >= 0 && Thread.currentThread() == trainer;
        return now;
    }

    /** Takes the next batch, of that number. */
    public Batch next(long batch) {
        synchronized (this) {
            asked = batch;
            requested = false;
        }
        try {
            return loader.next();
        } finally {
            synchronized (this) {
                asked = -1;
            }
        }
    }

    /** Moves the time on at once, for a loader whose threads all stand still beside the caller. */
    public synchronized void advance(long nanos) {
        now += nanos;
        notifyAll();
    }

    /** The trainer sleeps. */
    public void sleep(long nanos) {
        sleep(nanos, -1);
    }

    /**
     * A worker sleeps; or the trainer, in the place of one.
     *
     * @param batch what it is making
     */
    public synchronized void sleep(long nanos, long batch) {
        if (nanos == 0 || ended) {
            return;
        }
        Thread sleeper = Thread.currentThread();
        asleep.put(sleeper, new Sleep(now + nanos, batch));
        boolean interrupted = false;
        while (asleep.containsKey(sleeper)) {
            if (allRest()) {
                now = asleep.values().stream().mapToLong(Sleep::until).min().orElseThrow();
                asleep.values().removeIf(sleep -> sleep.until() == now);
                notifyAll();
            } else {
                try {
                    wait(LOOK_MILLIS);
                } catch (InterruptedException _) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            sleeper.interrupt();
        }
    }

    /** Nobody sleeps any more: a loader that is closed waits for its workers. */
    @Override
    public synchronized void close() {
        ended = true;
        asleep.clear();
        notifyAll();
    }

    private boolean allRest() {
        boolean trainerRests = asleep.containsKey(trainer)
                || asked >= 0 && requested && !loader.ring().slot(asked).isReadyWith(asked);
        return trainerRests && (workers == 0 || workersRest());
    }

    /** Each has claimed a batch, and sleeps over it or has no slot for it. */
    private boolean workersRest() {
        long end = loader.run().nextToClaim();
        int claimed = 0;
        for (long batch = Math.max(0, end - loader.ring().size() - workers); batch < end; batch++) {
            if (!loader.ring().slot(batch).isMadeWith(batch)) {
                if (loader.ring().slot(batch).isFreeFor(batch) && !isAsleepOver(batch)) {
                    return false;
                }
                claimed++;
            }
        }
        return claimed == workers;
    }

    private boolean isAsleepOver(long batch) {
        return asleep.values().stream().anyMatch(sleep -> sleep.batch() == batch);
    }
}
