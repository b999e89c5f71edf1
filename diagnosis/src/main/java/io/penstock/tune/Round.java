// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

/**
 * The result of one short run of a loader.
 *
 * @param samples samples taken
 * @param steps batches taken
 * @param nanos its duration; at least 1
 * @param waitNanos the part of it that the trainer waited in {@code next()}
 */
public record Round(long samples, long steps, long nanos, long waitNanos) {

    /** {@return the throughput in samples per second} */
    public double samplesPerSecond() {
        return samples * 1e9 / Math.max(1, nanos);
    }

    /** {@return the mean wait per step in nanoseconds} */
    public double meanWaitNanos() {
        return steps == 0 ? 0 : (double) waitNanos / steps;
    }
}
