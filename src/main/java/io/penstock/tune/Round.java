package io.penstock.tune;

/**
 * What one short run of a loader gave.
 *
 * @param samples samples taken
 * @param steps batches taken
 * @param nanos the time that it took; at least 1
 * @param waitNanos the part of it that the trainer waited in {@code next()}
 */
public record Round(long samples, long steps, long nanos, long waitNanos) {

    /**
     * The throughput.
     *
     * @return samples a second
     */
    public double samplesPerSecond() {
        return samples * 1e9 / Math.max(1, nanos);
    }

    /**
     * The wait of a step, on average.
     *
     * @return nanoseconds
     */
    public double meanWaitNanos() {
        return steps == 0 ? 0 : (double) waitNanos / steps;
    }
}
