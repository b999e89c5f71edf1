package io.penstock.telemetry;

/**
 * Where a loader's time went since it was opened: running totals, read while it runs. Times of workers are summed over
 * the workers, and the trainer's thread counts as one while it fills.
 *
 * @param batches batches that the trainer was given
 * @param samples samples in them
 * @param bytes bytes that workers wrote into slots, batches ahead of the trainer included
 * @param planNanos workers: working out which samples make a batch
 * @param collateNanos workers: reading samples and writing slabs
 * @param slotWaitNanos workers: waiting for a free slot, because the trainer is slower; backpressure, not a fault
 * @param submitNanos the copy thread: enqueueing copies
 * @param consumerWaitNanos the trainer: waiting for a batch; what training is held back by
 * @param helpNanos the trainer: of that, filling slots itself instead of waiting idly
 * @param badSamples samples of the batches that the trainer was given which could not be read, and were replaced or
 *     skipped
 * @param verifiedBytes workers: bytes that were checked against the checksums beside their files
 */
public record LoaderReport(long batches, long samples, long bytes, long planNanos, long collateNanos,
        long slotWaitNanos, long submitNanos, long consumerWaitNanos, long helpNanos,
        long badSamples, long verifiedBytes) {

    /**
     * What happened between an earlier report and this one.
     *
     * @param earlier a report of the same loader
     * @return the differences
     */
    public LoaderReport since(LoaderReport earlier) {
        return new LoaderReport(batches - earlier.batches, samples - earlier.samples, bytes - earlier.bytes,
                planNanos - earlier.planNanos, collateNanos - earlier.collateNanos,
                slotWaitNanos - earlier.slotWaitNanos, submitNanos - earlier.submitNanos,
                consumerWaitNanos - earlier.consumerWaitNanos, helpNanos - earlier.helpNanos,
                badSamples - earlier.badSamples, verifiedBytes - earlier.verifiedBytes);
    }
}
