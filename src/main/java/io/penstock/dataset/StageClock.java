package io.penstock.dataset;

import java.util.function.LongSupplier;

/**
 * What a {@link SampleReader} spent on samples that are not copied as they are stored, since it was last asked to begin
 * anew. Of the reader's thread.
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

    /** Begins anew. */
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
     * Bringing stored bytes to where a decoder takes them.
     *
     * @return nanoseconds
     */
    public long readNanos() {
        return readNanos;
    }

    /**
     * Decoding.
     *
     * @return nanoseconds
     */
    public long decodeNanos() {
        return decodeNanos;
    }

    /**
     * Maps of samples, without what they read.
     *
     * @return nanoseconds
     */
    public long transformNanos() {
        return transformNanos;
    }
}
