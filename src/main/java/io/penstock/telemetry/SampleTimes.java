// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry;

import java.util.List;

/**
 * How long single samples took, by the step of the work on them: of samples that are decoded, mapped or generated.
 * Samples that are copied as they are stored are not timed one by one. A field of several that a sample has counts by
 * itself, and so does a read that only finds out a size.
 *
 * @param read reading the stored bytes for a decoder, by time; shortest first, without empty buckets
 * @param decode decoding them
 * @param transform sample maps and generators
 * @param sizes what samples took in all, by the size of their stored bytes; smallest first, without empty classes
 * @param slowest at most {@value #MOST_SLOW} samples, the slowest first
 */
public record SampleTimes(List<Bucket> read, List<Bucket> decode, List<Bucket> transform, List<SizeClass> sizes,
        List<SlowSample> slowest) {

    /** The most samples that are named. */
    public static final int MOST_SLOW = 10;

    /** Of a loader that has timed none. */
    public static final SampleTimes NONE = new SampleTimes(List.of(), List.of(), List.of(), List.of(), List.of());

    /** Copies the lists. */
    public SampleTimes {
        read = List.copyOf(read);
        decode = List.copyOf(decode);
        transform = List.copyOf(transform);
        sizes = List.copyOf(sizes);
        slowest = List.copyOf(slowest);
    }

    /**
     * Samples that took about equally long.
     *
     * @param leastNanos the shortest time that counts here
     * @param mostNanos the longest, at most an eighth longer
     * @param samples their number
     */
    public record Bucket(long leastNanos, long mostNanos, long samples) {

        /** {@return about how long all of them took} */
        public double nanos() {
            return samples * (leastNanos + mostNanos) / 2.0;
        }
    }

    /**
     * Samples of about one size.
     *
     * @param leastBytes the smallest, a power of two or 0; the largest is below twice of it
     * @param samples their number
     * @param nanos how long all steps of all of them took
     */
    public record SizeClass(long leastBytes, long samples, long nanos) {
    }

    /**
     * One sample, at the time when it took longest.
     *
     * @param sample its index in the dataset
     * @param name its name: that of its file, or {@code sample 17}
     * @param bytes the stored bytes that were read for it; 0 for a sample that is not decoded
     * @param readNanos reading them
     * @param decodeNanos decoding them
     * @param transformNanos sample maps and generators
     */
    public record SlowSample(long sample, String name, long bytes, long readNanos, long decodeNanos,
            long transformNanos) {

        /** {@return how long all steps took} */
        public long nanos() {
            return readNanos + decodeNanos + transformNanos;
        }
    }
}
