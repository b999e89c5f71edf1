// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry;

import java.util.List;

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
 * @param sourceEmptyNanos workers: waiting for samples of a stream whose source had nothing
 * @param sourceSlowNanos workers: waiting for samples of a stream whose source had more than was read
 * @param submitNanos the copy thread: enqueuing copies
 * @param consumerWaitNanos the trainer: waiting for a batch; the loader's cost to training
 * @param badSamples unreadable samples, replaced or skipped, in the batches given to the trainer
 * @param verifiedBytes workers: bytes checked against the checksums beside their files
 * @param parts workers: decoding, and the parts of sample maps such as the steps of an augmentation, in their order;
 *     within {@code collateNanos}
 */
public record LoaderReport(long batches, long samples, long bytes, long planNanos, long collateNanos,
        long slotWaitNanos, long sourceEmptyNanos, long sourceSlowNanos, long submitNanos, long consumerWaitNanos,
        long badSamples, long verifiedBytes, List<PartTime> parts) {

    /**
     * A part of the samples' making.
     *
     * @param name {@code decode}, or as the map names it
     * @param nanos the time of all samples; of a map's part an estimate, from one sample of eight
     */
    public record PartTime(String name, long nanos) {
    }

    /** Copies the parts. */
    public LoaderReport {
        parts = List.copyOf(parts);
    }

    /**
     * {@return the differences to an earlier report}
     *
     * @param earlier a report of the same loader
     */
    public LoaderReport since(LoaderReport earlier) {
        return new LoaderReport(batches - earlier.batches, samples - earlier.samples, bytes - earlier.bytes,
                planNanos - earlier.planNanos, collateNanos - earlier.collateNanos,
                slotWaitNanos - earlier.slotWaitNanos, sourceEmptyNanos - earlier.sourceEmptyNanos,
                sourceSlowNanos - earlier.sourceSlowNanos, submitNanos - earlier.submitNanos,
                consumerWaitNanos - earlier.consumerWaitNanos, badSamples - earlier.badSamples,
                verifiedBytes - earlier.verifiedBytes,
                parts.stream().map(part -> new PartTime(part.name, part.nanos - earlier.nanosOf(part.name))).toList());
    }

    private long nanosOf(String part) {
        return parts.stream().filter(each -> each.name.equals(part)).mapToLong(PartTime::nanos).sum();
    }
}
