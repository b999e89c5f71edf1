// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.DeviceStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How filled slots reach the trainer, whose thread calls {@link #await} and {@link #lend}. */
public interface Delivery extends Lender, AutoCloseable {

    /** A run starts; the ring holds nothing of an earlier one. */
    void begin(Run run);

    /**
     * Stops reading the ring, when the run is canceled and no worker fills. Returns the sequence that would be read
     * next, at least {@code nextToTake}: what is ready from there on can be taken back.
     */
    long stop(long nextToTake);

    /** Whether {@link #await} will return without waiting: false if that cannot be told. */
    boolean isReady(long sequence);

    /**
     * Announces that a stream asks for a batch of the run, before waiting for it: on the device's clock, its stall
     * begins here. Throws {@link IllegalArgumentException} if the stream is another device's.
     */
    default void ask(long n, DeviceStream stream) {
    }

    /**
     * Waits until a batch of the run can be lent, or the loader is over; false if the thread was interrupted. Throws
     * {@link IllegalStateException} if the calling thread holds the leases that it would wait for.
     */
    boolean await(Run run, long n);

    /**
     * Lends a batch that was waited for.
     *
     * @param stream the stream that will use the batch, which is made to wait for it; null to wait here
     * @throws NotMadeException if the batch could not be made; the next call skips it
     * @throws IllegalStateException if the loader has failed
     */
    Lease lend(Run run, long n, @Nullable DeviceStream stream);

    /**
     * Throws an {@link IllegalStateException} if {@link #await} could never return because the calling thread holds the
     * leases that it would wait for.
     */
    void checkCanTake(Run run, long n);

    /** Everything that may be lent, to name the leases that are out. */
    List<BatchHolder> holders();

    /** What wakes whoever waits for the ring or the trainer to move on. */
    SpinGate ringReader();

    /** Device memory that this owns beside the ring, in bytes. */
    long deviceBytes();

    /** Wakes and ends all waiting, after a failure. */
    void wake();

    /** Ends the copy thread and waits for the copies in flight; frees nothing. Calling it again does nothing. */
    void halt();

    /** Frees device memory, streams and events. Only after {@link #halt}, when no lease is out. */
    @Override
    void close();
}
