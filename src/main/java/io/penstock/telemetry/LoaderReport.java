// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry;

/**
 * Where a loader's time went since it opened: running totals, readable while it runs. Worker times are summed over all
 * workers; without workers, the trainer's thread counts as one while it fills slots.
 *
 * @param batches batches given to the trainer
 * @param samples samples in them
 * @param bytes bytes written into slots, prefetched batches included
 * @param planNanos workers: determining a batch's samples
 * @param collateNanos workers: reading samples and writing slabs
 * @param slotWaitNanos workers: waiting for a free slot because the trainer is slower; backpressure, not a fault
 * @param submitNanos the copy thread: enqueuing copies
 * @param consumerWaitNanos the trainer: waiting for a batch; the loader's cost to training
 * @param badSamples unreadable samples, replaced or skipped, in the batches given to the trainer
 * @param verifiedBytes workers: bytes checked against the checksums beside their files
 */
public record LoaderReport(long batches, long samples, long bytes, long planNanos, long collateNanos,
        long slotWaitNanos, long submitNanos, long consumerWaitNanos,
        long badSamples, long verifiedBytes) {

    /**
     * {@return the differences to an earlier report}
     *
     * @param earlier a report of the same loader
     */
    public LoaderReport since(LoaderReport earlier) {
        return new LoaderReport(batches - earlier.batches, samples - earlier.samples, bytes - earlier.bytes,
                planNanos - earlier.planNanos, collateNanos - earlier.collateNanos,
                slotWaitNanos - earlier.slotWaitNanos, submitNanos - earlier.submitNanos,
                consumerWaitNanos - earlier.consumerWaitNanos, badSamples - earlier.badSamples,
                verifiedBytes - earlier.verifiedBytes);
    }
}
