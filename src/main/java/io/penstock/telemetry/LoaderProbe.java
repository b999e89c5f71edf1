package io.penstock.telemetry;

/**
 * What a loader tells of each batch, as it happens. A loader has one probe, and calls it in this order:
 *
 * <pre>
 *   a thread that fills    awaitsSlot ─▶ claimed ─▶ planned ─▶ filled
 *   whoever reads the ring                                     reached ─▶ submitted ─▶ arrived    (if it copies)
 *   the trainer's thread   requested ───────────────────────────────────────────────▶ taken ─▶ closed
 * </pre>
 *
 * <p>The calls are part of what a step takes: a probe returns within nanoseconds, allocates nothing, never waits and
 * never throws. Each method does nothing unless a probe overrides it. Times are what the loader's clock says, in
 * nanoseconds; a batch's {@code sequence} is its number in the loader's life, from 0.
 */
public interface LoaderProbe {

    /** Hears nothing. */
    LoaderProbe NONE = new LoaderProbe() { };

    /**
     * A thread that fills has no free slot. May be called several times before {@link #claimed}.
     *
     * @param worker the thread's number
     */
    default void awaitsSlot(int worker) {
    }

    /**
     * A thread that fills has a batch to make and a free slot for it; or, after {@link #awaitsSlot}, nothing is left
     * to make, and the sequence is {@link Filling#NOTHING}.
     *
     * @param batch of the calling thread: sequence, claimedAt and slotAt are set
     */
    default void claimed(Filling batch) {
    }

    /**
     * It is known which samples make the batch; they are about to be read. Not called if that could not be told.
     *
     * @param batch of the calling thread: plannedAt is set too
     */
    default void planned(Filling batch) {
    }

    /**
     * The batch is whole, or cannot be made, and is about to be published.
     *
     * @param batch of the calling thread: everything is set
     */
    default void filled(Filling batch) {
    }

    /**
     * The batch's turn has come: its slot is about to be copied, or to be lent.
     *
     * @param sequence the batch
     */
    default void reached(long sequence) {
    }

    /**
     * The batch's copy to the device was enqueued. Called by the copy thread.
     *
     * @param sequence the batch
     * @param bytes how much is copied
     * @param beginAt when enqueueing began
     * @param endAt when it had ended
     */
    default void submitted(long sequence, long bytes, long beginAt, long endAt) {
    }

    /**
     * The batch's bytes were seen to be on the device. Called by the copy thread.
     *
     * @param sequence the batch
     */
    default void arrived(long sequence) {
    }

    /**
     * The trainer asks for a batch: {@link #taken} or {@link #notTaken} follows, on the same thread.
     *
     * @param sequence the batch
     * @param epochs asked where epochs begin, only if that is of interest
     */
    default void requested(long sequence, EpochBounds epochs) {
    }

    /**
     * The trainer has the batch.
     *
     * @param sequence the batch
     * @param requestedAt when it asked for it; {@link BatchAccount#NOT_MEASURED} if the batch was there already
     * @param takenAt when it had it; {@link BatchAccount#NOT_MEASURED} likewise
     * @param samples how many samples it has
     * @param replaced how many of them stand for others that could not be read
     */
    default void taken(long sequence, long requestedAt, long takenAt, int samples, int replaced) {
    }

    /**
     * The trainer asked for a batch and gets none: it could not be made, or the wait for it was ended.
     *
     * @param waitNanos how long it waited; {@link BatchAccount#NOT_MEASURED} if it did not
     */
    default void notTaken(long waitNanos) {
    }

    /**
     * The trainer gives a batch back. Called by whatever thread has it.
     *
     * @param sequence the batch
     */
    default void closed(long sequence) {
    }
}
