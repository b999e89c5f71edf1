package io.penstock.telemetry;

/**
 * Where one batch's time went, from the moment a worker began with it until the trainer gave it back: bound to the
 * batch by its number, never by the time at which something happened. Times called {@code …At} are what
 * {@link System#nanoTime} said; {@link #NOT_MEASURED} stands where nothing was measured, which is not the same as 0.
 *
 * <pre>
 *   worker    claimedAt ─slot─▶ slotAt ─plan─▶ plannedAt ─read, decode, transform, collate─▶ madeAt
 *   copier                                                        submitAt ─▶ submittedAt ─(device)─▶
 *   trainer        requestedAt ───────────────── waits ─────────────────▶ takenAt ─holds─▶ closedAt
 * </pre>
 *
 * @param sequence the batch's number in the loader's life, from 0
 * @param epoch the epoch of its samples
 * @param first whether it is the first of its epoch, or the first after the loader was opened or moved
 * @param samples samples in it
 * @param bytes bytes of it in its slot
 * @param making what a worker did
 * @param copying what the copy thread did; null if the batch was lent where it was made
 * @param taking what the trainer did
 */
public record BatchAccount(long sequence, long epoch, boolean first, int samples, long bytes, Making making,
        Copying copying, Taking taking) {

    /** Stands for a duration, a time or a count that was not measured. */
    public static final long NOT_MEASURED = -1;

    /**
     * A worker's part.
     *
     * @param worker the worker's number, from 0
     * @param claimedAt when it began with the batch
     * @param slotAt when the batch's slot was free
     * @param plannedAt when it knew which samples make the batch
     * @param madeAt when the batch was whole
     * @param readNanos bringing bytes in ahead of the collator, or into a decoder; within planned to made
     * @param decodeNanos decoding; within planned to made
     * @param transformNanos maps of samples; within planned to made. What is left of planned to made is collating,
     *     which for samples as they are stored is reading too
     * @param usage what the thread used from planned to made; null if it was not looked at for this batch
     */
    public record Making(int worker, long claimedAt, long slotAt, long plannedAt, long madeAt, long readNanos,
            long decodeNanos, long transformNanos, Usage usage) {

        /**
         * The part of planned to made that is not read, decode or transform.
         *
         * @return nanoseconds
         */
        public long collateNanos() {
            return Math.max(0, madeAt - plannedAt - Math.max(0, readNanos) - Math.max(0, decodeNanos)
                    - Math.max(0, transformNanos));
        }

        /**
         * The time from planned to made that the thread did not run: for storage, a lock or a core.
         *
         * @return nanoseconds, or {@link #NOT_MEASURED}
         */
        public long blockedNanos() {
            return usage == null ? NOT_MEASURED : Math.max(0, madeAt - plannedAt - usage.cpuNanos());
        }
    }

    /**
     * What the operating system says of a thread over a stretch of time (getrusage, RUSAGE_THREAD; schedstat).
     *
     * @param cpuNanos time that it ran, in user and in system mode
     * @param diskBytes bytes that were read from storage for it; file systems without a block device say 0
     * @param majorFaults page faults that had to wait for storage; a poor measure, since one may bring in megabytes
     * @param voluntarySwitches how often it left its core to wait for something
     * @param involuntarySwitches how often it had to leave its core to another thread
     * @param queuedNanos how long it could run and had no core; {@link #NOT_MEASURED} for a batch that is made quickly
     */
    public record Usage(long cpuNanos, long diskBytes, long majorFaults, long voluntarySwitches,
            long involuntarySwitches, long queuedNanos) {
    }

    /**
     * The copy thread's part.
     *
     * @param submitAt when it began to enqueue the copy: the batch was next in order, and a device slot was free
     * @param submittedAt when that was done
     * @param arrivedAt when the thread saw that the bytes were there, which is a little later than they were
     * @param deviceNanos the copy alone, by the device's clock
     */
    public record Copying(long submitAt, long submittedAt, long arrivedAt, long deviceNanos) {

        /**
         * How long the copy took: by the device's clock, or else from enqueueing it to its being seen done.
         *
         * @return nanoseconds, or {@link #NOT_MEASURED}
         */
        public long nanos() {
            return deviceNanos >= 0 || arrivedAt == NOT_MEASURED ? deviceNanos : arrivedAt - submitAt;
        }
    }

    /**
     * The trainer's part.
     *
     * @param requestedAt when it asked for the batch
     * @param takenAt when it had it
     * @param closedAt when it gave it back; {@link #NOT_MEASURED} while it is out
     * @param exposedNanos how long its stream stood still for the batch, by the device's clock
     * @param computeNanos what it marked as computing; unmarked, the time that it held the batch stands for that
     * @param readyBatches batches that stood made when it had this one, which is counted;
     *     {@link #NOT_MEASURED} for most batches that it did not wait for
     * @param freeSlots host slots that no made batch was in; {@link #NOT_MEASURED} likewise
     */
    public record Taking(long requestedAt, long takenAt, long closedAt, long exposedNanos, long computeNanos,
            int readyBatches, int freeSlots) {

        /**
         * How long the trainer's thread waited.
         *
         * @return nanoseconds
         */
        public long waitNanos() {
            return takenAt - requestedAt;
        }

        /**
         * What the trainer marked as computing, or else how long it held the batch.
         *
         * @return nanoseconds, or {@link #NOT_MEASURED}
         */
        public long computeOrHeldNanos() {
            return computeNanos >= 0 ? computeNanos : closedAt == NOT_MEASURED ? NOT_MEASURED : closedAt - takenAt;
        }
    }
}
