package io.penstock.loader;

import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import java.util.List;

/**
 * How filled slots reach the trainer. The trainer's thread calls {@link #take}; {@link #release} and {@link #giveBack}
 * may be called by any thread.
 */
interface Delivery extends AutoCloseable {

    /** A run starts; the ring holds nothing of an earlier one. */
    void begin(Run run);

    /**
     * Stops reading the ring. Called when the run is cancelled and no worker fills.
     *
     * @param nextToTake the sequence that the trainer would take next
     * @return the sequence that would be read next: what is ready from there on can be taken back
     */
    long stop(long nextToTake);

    /** Whether {@link #take} will return without waiting: false if that cannot be told. */
    boolean isReady(Run run, long n);

    /**
     * Waits for a batch of the run and lends it.
     *
     * @param stream the stream that will use the batch, which is made to wait for it; null to wait here
     * @throws BatchException if the batch could not be made; it is passed over
     * @throws LoaderInterruptedException if the thread is interrupted; nothing is taken
     * @throws IllegalStateException if the loader has failed, or if the wait could never end because the calling thread
     *     holds the leases that it would wait for
     */
    Batch take(Run run, long n, DeviceStream stream);

    /**
     * Fails if {@link #take} could never return because the calling thread holds the leases that it would wait for.
     *
     * @throws IllegalStateException if so
     */
    void checkCanTake(Run run, long n);

    /**
     * Makes a stream wait for the bytes of a lent batch.
     *
     * @throws IllegalArgumentException if the stream is another device's
     */
    void makeWait(Batch batch, DeviceStream stream);

    /** Enqueues a copy of a lent batch's slab. */
    void copyToHost(Batch batch, DeviceStream stream, PinnedBuffer target);

    /**
     * Makes a consumer of DLPack tensors find the batch's bytes: its stream is made to wait for them, and counts as one
     * that the batch is used on. Host memory is waited for here.
     *
     * @param stream the consumer's, by DLPack's convention: 1 the legacy default stream, 2 the thread's, or a handle
     */
    void makeConsumerWait(Batch batch, long stream);

    /**
     * Orders the reuse of a lent batch's slot behind the streams that the batch was used on, and lets go of the batch
     * with {@link Batch#released}. Called once a batch.
     *
     * @throws IllegalStateException if the calling thread is none that can; the batch stays lent
     * @throws RuntimeException if the slot's reuse cannot be ordered: the batch is let go of, and the loader has
     *     failed
     */
    void release(Batch batch);

    /**
     * Takes a released batch's slot back, when nothing holds it any more. Never blocks, calls no device and throws
     * nothing, since the caller may be native code.
     *
     * @param inDeleter whether it is
     */
    void giveBack(Batch batch, boolean inDeleter);

    /** Everything that may be lent, to name the leases that are out. */
    List<BatchHolder> holders();

    /** What wakes whoever waits for the ring or the trainer to move on. */
    SpinGate ringReader();

    /** Device memory that this owns beside the ring, in bytes. */
    long deviceBytes();

    /** Nanoseconds spent submitting copies. */
    long submitNanos();

    /** Wakes and ends all waiting, after a failure. */
    void wake();

    /** Ends the copy thread and waits for the copies in flight; frees nothing. Calling it again does nothing. */
    void halt();

    /** Frees device memory, streams and events. Only after {@link #halt}, when no lease is out. */
    @Override
    void close();
}
