// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.os.CacheLine;
import io.penstock.telemetry.recording.LoaderProbe.EpochBounds;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A stretch of batches delivered one after another, from a start position until it ends or the loader is moved
 * elsewhere. Batch {@code n} of the run has the sequence number {@code base + n}.
 */
public abstract class Run implements EpochBounds {

    public final long base;

    /** Written by the workers for every batch, while the trainer reads the fields above. */
    private final AtomicLongArray claimed = new AtomicLongArray(CacheLine.SLOTS);
    private volatile boolean cancelled;

    /** Creates a run of which no batch is claimed yet, with the sequence number of its first batch. */
    protected Run(long base) {
        this.base = base;
    }

    /** Whether the run has a batch of that number. Called by any thread. */
    public abstract boolean has(long number);

    /** The sequence that is claimed next, if the run has one. */
    public long nextToClaim() {
        return base + claimed.get(CacheLine.MIDDLE);
    }

    /** Claims the next sequence for the caller to fill; -1 if none is left. */
    public long claim() {
        if (cancelled) {
            return -1;
        }
        long n = claimed.getAndIncrement(CacheLine.MIDDLE);
        return has(n) ? base + n : -1;
    }

    /** Claims a sequence for the caller to fill; false if it is not the next one any more, or the run is canceled. */
    public boolean claim(long sequence) {
        return !cancelled && claimed.compareAndSet(CacheLine.MIDDLE, sequence - base, sequence - base + 1);
    }

    public void cancel() {
        cancelled = true;
    }

    public boolean isCancelled() {
        return cancelled;
    }
}
