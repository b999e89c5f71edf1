// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

/**
 * Durations, counted in buckets that are at most 1/128 of their value wide: any number of them in 58 kB, and recorded
 * without allocating. For one thread.
 */
final class DurationHistogram {

    /** The number of buckets per power of two. */
    private static final int SUB_BUCKETS = 128;
    private static final int SUB_BITS = 7;

    private final long[] counts = new long[(64 - SUB_BITS) * SUB_BUCKETS];
    private long count;
    private long totalNanos;
    private long maxNanos;

    void record(long nanos) {
        long value = Math.max(0, nanos);
        counts[bucket(value)]++;
        count++;
        totalNanos += value;
        maxNanos = Math.max(maxNanos, value);
    }

    /** Values below 256 have a bucket each; above, the leading eight bits and the magnitude decide. */
    private static int bucket(long value) {
        int shift = Math.max(0, 63 - SUB_BITS - Long.numberOfLeadingZeros(value));
        return shift * SUB_BUCKETS + (int) (value >>> shift);
    }

    private static long greatestOf(int bucket) {
        int shift = Math.max(0, bucket / SUB_BUCKETS - 1);
        return ((bucket - (long) shift * SUB_BUCKETS + 1) << shift) - 1;
    }

    /** The shortest duration that a share of all does not exceed, at most 1/128 too long; 0 if there is none. */
    long quantileNanos(double share) {
        long rank = Math.max(1, (long) Math.ceil(share * count));
        long seen = 0;
        for (int bucket = 0; bucket < counts.length; bucket++) {
            seen += counts[bucket];
            if (seen >= rank) {
                return Math.min(greatestOf(bucket), maxNanos);
            }
        }
        return 0;
    }

    long totalNanos() {
        return totalNanos;
    }

    double meanNanos() {
        return count == 0 ? 0 : (double) totalNanos / count;
    }

    long maxNanos() {
        return maxNanos;
    }
}
