// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.cache;

/**
 * How long fetches take: a moving mean and a moving mean deviation, as TCP has them of its round trips (RFC 6298).
 * Thread-safe.
 */
final class FetchTimes {

    private double mean;
    private double deviation;

    synchronized void add(long nanos) {
        if (mean == 0) {
            mean = nanos;
            deviation = nanos / 2.0;
        } else {
            deviation += (Math.abs(nanos - mean) - deviation) / 4;
            mean += (nanos - mean) / 8;
        }
    }

    /** The longest time of most fetches; 0 before the first. */
    synchronized long latencyNanos() {
        return (long) (mean + 4 * deviation);
    }
}
