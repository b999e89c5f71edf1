// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry;

import org.jspecify.annotations.Nullable;

/**
 * Where one batch's time went, from the moment a worker started it until the trainer returned it. The batch's number
 * identifies it, never a time. Times called {@code …At} are values of {@link System#nanoTime};
 * {@link #NOT_MEASURED} means that nothing was measured, which differs from 0.
 *
 * <pre>
 *   worker    claimedAt ─slot─▶ slotAt ─plan─▶ plannedAt ─read, decode, transform, collate─▶ madeAt
 *   copier                                                        submitAt ─▶ submittedAt ─(device)─▶
 *   trainer        requestedAt ───────────────── waits ─────────────────▶ takenAt ─holds─▶ closedAt
 * </pre>
 *
 * @param sequence the batch's number since the loader opened, from 0
 * @param epoch the epoch of its samples
 * @param first whether it is the epoch's first batch, or the first after the loader was opened or moved
 * @param samples number of samples
 * @param bytes bytes in its slot
 * @param making the worker's part
 * @param copying the copy thread's part; null if the batch was lent without a copy
 * @param taking the trainer's part
 * @param onDevice what the device's clock says; null if the loader does not use it, or not yet
 */
public record BatchAccount(long sequence, long epoch, boolean first, int samples, long bytes, Making making,
        @Nullable Copying copying, Taking taking, @Nullable OnDevice onDevice) {

    /** The value of a duration, time or count that was not measured. */
    public static final long NOT_MEASURED = -1;

    /**
     * A worker's part.
     *
     * @param worker the worker's number, from 0
     * @param claimedAt when it started the batch
     * @param slotAt when the batch's slot was free
     * @param plannedAt when the batch's samples were known
     * @param madeAt when the batch was complete
     * @param readNanos reading ahead of the collator or into a decoder; within planned to made
     * @param decodeNanos decoding; within planned to made
     * @param transformNanos sample maps; within planned to made. The rest of planned to made is collating, which for
     *     samples copied as stored includes reading
     * @param sourceEmptyNanos waiting for samples of a stream whose source had nothing; within slot to planned, or,
     *     without workers, before the batch was started
     * @param sourceSlowNanos waiting for samples of a stream whose source had more than was read; likewise
     * @param usage what the thread used from planned to made; null if not measured for this batch
     * @param download how long it waited for remote bytes, within reading and collating; null if it read none
     */
    public record Making(int worker, long claimedAt, long slotAt, long plannedAt, long madeAt, long readNanos,
            long decodeNanos, long transformNanos, long sourceEmptyNanos, long sourceSlowNanos,
            @Nullable Usage usage, @Nullable Download download) {

        /** {@return the nanoseconds of waiting for samples of a stream} */
        public long sourceNanos() {
            return sourceEmptyNanos + sourceSlowNanos;
        }

        /** {@return the nanoseconds from slot to planned, without waiting for samples} */
        public long planNanos() {
            return Math.max(0, plannedAt - slotAt - sourceNanos());
        }

        /** {@return the nanoseconds from planned to made that are not read, decode or transform} */
        public long collateNanos() {
            return Math.max(0, madeAt - plannedAt - Math.max(0, readNanos) - Math.max(0, decodeNanos)
                    - Math.max(0, transformNanos));
        }

        /**
         * {@return the nanoseconds from planned to made that the thread was blocked, waiting for storage, a lock or a
         * core; or {@link #NOT_MEASURED}}
         */
        public long blockedNanos() {
            return usage == null ? NOT_MEASURED : Math.max(0, madeAt - plannedAt - usage.cpuNanos());
        }
    }

    /**
     * How long a worker waited for remote bytes.
     *
     * @param lockNanos while another process fetched them
     * @param queueNanos behind earlier requests
     * @param firstByteNanos for the first byte of the answer
     * @param transferNanos for the rest
     * @param retryNanos for the next attempt, after one that failed
     */
    public record Download(long lockNanos, long queueNanos, long firstByteNanos, long transferNanos, long retryNanos) {

        /** The number of components. */
        public static final int PARTS = 5;

        /** {@return all of it} */
        public long nanos() {
            return lockNanos + queueNanos + firstByteNanos + transferNanos + retryNanos;
        }
    }

    /**
     * What the operating system reports for a thread over a period (getrusage, RUSAGE_THREAD; schedstat).
     *
     * @param cpuNanos CPU time, user and system
     * @param diskBytes bytes read from storage; file systems without a block device report 0
     * @param majorFaults page faults that waited for storage; a poor measure, since one may read megabytes
     * @param voluntarySwitches how often it left its core to wait for something
     * @param involuntarySwitches how often it was preempted
     * @param queuedNanos time it was runnable without a core; {@link #NOT_MEASURED} for a quickly made batch
     */
    public record Usage(long cpuNanos, long diskBytes, long majorFaults, long voluntarySwitches,
            long involuntarySwitches, long queuedNanos) {
    }

    /**
     * The copy thread's part.
     *
     * @param submitAt when it started enqueuing the copy: the batch was next in order, and a device slot was free
     * @param submittedAt when the copy was enqueued
     * @param arrivedAt when the thread saw the copy complete, slightly after the fact
     */
    public record Copying(long submitAt, long submittedAt, long arrivedAt) {
    }

    /**
     * {@return the copy's nanoseconds, by the device's clock, or else from enqueuing until it was seen complete; or
     * {@link #NOT_MEASURED}}
     */
    public long copyNanos() {
        return onDevice != null ? onDevice.copyNanos
                : copying == null || copying.arrivedAt == NOT_MEASURED ? NOT_MEASURED
                        : copying.arrivedAt - copying.submitAt;
    }

    /**
     * What the device's clock says of a batch. All but the first two are {@link #NOT_MEASURED} if the trainer took the
     * batch without a stream.
     *
     * @param copyNanos the copy
     * @param stageNanos the loader's stages behind it
     * @param lateNanos the part of the stall before the copy began
     * @param exposedNanos how long the trainer's stream stalled for the batch
     * @param computeNanos how long the stream then worked on what it was given before the batch was closed
     * @param stepNanos from the stream's being ready for the batch to its being ready for the next one;
     *     {@link #NOT_MEASURED} before that
     * @param marked the phases that the trainer marked; null without any
     */
    public record OnDevice(long copyNanos, long stageNanos, long lateNanos, long exposedNanos, long computeNanos,
            long stepNanos, @Nullable Marked marked) {

        /** {@return the nanoseconds of the marked phases; without marks, all that the stream worked} */
        public long markedOrComputeNanos() {
            return marked == null ? computeNanos : marked.nanos();
        }
    }

    /**
     * How long the trainer's stream took for each {@link Phase} that was marked.
     *
     * @param computeNanos computing, not distinguished
     * @param forwardNanos the forward pass
     * @param backwardNanos the backward pass
     * @param optimizerNanos the optimizer's step
     */
    public record Marked(long computeNanos, long forwardNanos, long backwardNanos, long optimizerNanos) {

        /** {@return all of it} */
        public long nanos() {
            return computeNanos + forwardNanos + backwardNanos + optimizerNanos;
        }
    }

    /**
     * The trainer's part.
     *
     * @param requestedAt when it asked for the batch
     * @param takenAt when it got it
     * @param closedAt when it returned it; {@link #NOT_MEASURED} before that
     * @param computeNanos the compute time it marked; without a mark, the time it held the batch counts
     * @param readyBatches complete batches when it got this one, this one included;
     *     {@link #NOT_MEASURED} for most batches that it did not wait for
     * @param freeSlots host slots without a complete batch; {@link #NOT_MEASURED} likewise
     */
    public record Taking(long requestedAt, long takenAt, long closedAt, long computeNanos, int readyBatches,
            int freeSlots) {

        /** {@return the nanoseconds that the trainer's thread waited} */
        public long waitNanos() {
            return takenAt - requestedAt;
        }

        /**
         * {@return the nanoseconds of computing that the trainer marked, or else that it held the batch; or {@link
         * #NOT_MEASURED}}
         */
        public long computeOrHeldNanos() {
            return computeNanos >= 0 ? computeNanos : closedAt == NOT_MEASURED ? NOT_MEASURED : closedAt - takenAt;
        }
    }
}
