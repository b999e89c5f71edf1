// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.source;

import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.state.LoaderState;
import java.util.function.BooleanSupplier;

/**
 * Samples that arrive one after the other, because their source has no index. They have one order, exist from when
 * they arrive until they are released, and may end. One loader at a time reads them.
 */
public interface Arrivals {

    /** {@return the order in which they are read, the only one} */
    Sampler order();

    /**
     * Checks that samples can be received from a state.
     *
     * @param from where a run would begin
     * @throws IllegalArgumentException if not: it is neither the start nor a state that was {@link #complete completed}
     */
    void check(LoaderState from);

    /**
     * Tells whether a rank receives the samples of all ranks, and so knows their lengths.
     *
     * @param shard the part of the positions that the rank reads
     * @return false if it receives only its own
     */
    boolean areShared(Shard shard);

    /**
     * Begins to receive from a state.
     *
     * @param from where a run begins
     * @param shard the part of the positions that this process reads
     * @throws IllegalArgumentException if the samples cannot be received from there
     */
    void begin(LoaderState from, Shard shard);

    /**
     * Waits for the samples of a range of positions.
     *
     * @param epoch the epoch
     * @param position the first position
     * @param count the number of positions
     * @param isOver asked now and then: whether the caller has no more use for them
     * @param waited the time is added to it
     * @return how many of them exist: fewer than {@code count} only if the samples end there, or the caller is told
     *     that it is over
     * @throws InterruptedException if the calling thread is interrupted
     * @throws java.io.UncheckedIOException if the source fails; names it
     */
    long await(long epoch, long position, long count, BooleanSupplier isOver, ArrivalWait waited)
            throws InterruptedException;

    /**
     * Tells that nothing before a position is read again, and no state before it is asked for.
     *
     * @param epoch the epoch
     * @param position the position
     */
    void release(long epoch, long position);

    /**
     * Completes a state with where the source is read on.
     *
     * @param position a state that knows epoch and position
     * @return the state to save
     */
    LoaderState complete(LoaderState position);

    /** How long a thread has waited for samples to arrive, and why. Of one thread. */
    final class ArrivalWait {

        /** Nanoseconds in which the source had nothing. */
        public long emptyNanos;
        /** Nanoseconds in which the source had more than was read. */
        public long slowNanos;

        /** Creates one that has not waited. */
        public ArrivalWait() {
        }
    }
}
