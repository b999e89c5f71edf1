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
 * @param downloads what was read and fetched of remote files
 */
public record LoaderReport(long batches, long samples, long bytes, long planNanos, long collateNanos,
        long slotWaitNanos, long sourceEmptyNanos, long sourceSlowNanos, long submitNanos, long consumerWaitNanos,
        long badSamples, long verifiedBytes, List<PartTime> parts, Downloads downloads) {

    /**
     * A part of the samples' making.
     *
     * @param name {@code decode}, which may say how in brackets, or as the map names it
     * @param nanos the time of all samples; of a map's part an estimate, from one sample of eight
     */
    public record PartTime(String name, long nanos) {

        /** The name of decoding. */
        public static final String DECODE = "decode";
        /** The name of decoding pictures where the JDK decodes JPEG, for want of libjpeg-turbo. */
        public static final String DECODE_BY_JDK = "decode (JPEG by the JDK)";
    }

    /**
     * What was read and fetched of remote files.
     *
     * @param reads reads of remote files
     * @param waitingReads those that had to wait for bytes
     * @param readBytes their bytes
     * @param fetchedBytes bytes that this process has fetched since the loader opened, whatever for
     * @param fetchedBlocks the blocks that they came in
     * @param requests the requests for them; more, if some were sent again
     * @param epochSamples samples in an epoch of this rank
     */
    public record Downloads(long reads, long waitingReads, long readBytes, long fetchedBytes, long fetchedBlocks,
            long requests, long epochSamples) {

        /** Of a loader without remote files. */
        public static final Downloads NONE = new Downloads(0, 0, 0, 0, 0, 0, 0);

        private Downloads since(Downloads earlier) {
            return new Downloads(reads - earlier.reads, waitingReads - earlier.waitingReads,
                    readBytes - earlier.readBytes, fetchedBytes - earlier.fetchedBytes,
                    fetchedBlocks - earlier.fetchedBlocks, requests - earlier.requests, epochSamples);
        }
    }

    /**
     * {@return this report with what was fetched}
     *
     * @param fetchedBytes bytes
     * @param fetchedBlocks the blocks that they came in
     * @param requests the requests for them
     * @param epochSamples samples in an epoch of this rank
     */
    public LoaderReport withFetched(long fetchedBytes, long fetchedBlocks, long requests, long epochSamples) {
        return new LoaderReport(batches, samples, bytes, planNanos, collateNanos, slotWaitNanos, sourceEmptyNanos,
                sourceSlowNanos, submitNanos, consumerWaitNanos, badSamples, verifiedBytes, parts,
                new Downloads(downloads.reads, downloads.waitingReads, downloads.readBytes, fetchedBytes,
                        fetchedBlocks, requests, epochSamples));
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
                parts.stream().map(part -> new PartTime(part.name, part.nanos - earlier.nanosOf(part.name))).toList(),
                downloads.since(earlier.downloads));
    }

    private long nanosOf(String part) {
        return parts.stream().filter(each -> each.name.equals(part)).mapToLong(PartTime::nanos).sum();
    }
}
