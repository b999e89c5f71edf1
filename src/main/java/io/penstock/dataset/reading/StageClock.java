// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import java.util.function.LongSupplier;

/** The nanoseconds that a reader spent on samples that are not raw copies, since the last reset. For its thread. */
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

    /** Adds the time since a moment to what reading took. */
    public void readSince(long begin) {
        readNanos += now() - begin;
    }

    void decodedSince(long begin) {
        decodeNanos += now() - begin;
    }

    void transformedSince(long begin) {
        transformNanos += now() - begin;
    }

    /** Returns the time spent reading stored bytes for decoders. */
    public long readNanos() {
        return readNanos;
    }

    /** Returns the time spent decoding. */
    public long decodeNanos() {
        return decodeNanos;
    }

    /** Returns the time spent in maps and generators, without reading their input. */
    public long transformNanos() {
        return transformNanos;
    }
}
