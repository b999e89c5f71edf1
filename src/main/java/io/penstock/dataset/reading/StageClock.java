package io.penstock.dataset.reading;

import java.util.function.LongSupplier;

/**
 * The time a {@link SampleReader} spent on samples that are not raw copies, since the last reset. For the reader's
 * thread.
 */
public final class StageClock {

    private final LongSupplier nanoTime;
    private long readNanos;
    private long decodeNanos;
    private long transformNanos;

    StageClock(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    long now() {
        return nanoTime.getAsLong();
    }

    /** Resets the times. */
    public void reset() {
        readNanos = 0;
        decodeNanos = 0;
        transformNanos = 0;
    }

    void read(long nanos) {
        readNanos += nanos;
    }

    void decoded(long nanos) {
        decodeNanos += nanos;
    }

    void transformed(long nanos) {
        transformNanos += nanos;
    }

    /**
     * Returns the time spent reading stored bytes for decoders.
     *
     * @return nanoseconds
     */
    public long readNanos() {
        return readNanos;
    }

    /**
     * Returns the time spent decoding.
     *
     * @return nanoseconds
     */
    public long decodeNanos() {
        return decodeNanos;
    }

    /**
     * Returns the time spent in maps, without reading their input.
     *
     * @return nanoseconds
     */
    public long transformNanos() {
        return transformNanos;
    }
}
