// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.dataset.source.SampleMap.PartClock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The nanoseconds that a reader spent on samples that are not raw copies, since the last reset. For its thread.
 *
 * <p>The parts of a map's work are timed for one of {@value #EVERY} samples, whose times count as often: a clock read
 * per part then costs some 3 ns a sample.
 */
public final class StageClock implements PartClock {

    /** A power of 2. */
    static final int EVERY = 8;

    private final LongSupplier nanoTime;
    private final List<String> parts = new ArrayList<>();
    private final List<String> readOnlyParts = Collections.unmodifiableList(parts);
    private long[] partNanos = {};
    private long readNanos;
    private long decodeNanos;
    private long transformNanos;
    /** The first part of the map that runs, and when its last part ended. */
    private int firstPart;
    private long partBegan;
    /** Null if nobody asks for the times of single samples. */
    private @Nullable SampleTimer samples;

    StageClock(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    long now() {
        return nanoTime.getAsLong();
    }

    /** Adds parts, while readers are opened, and returns the first one's index. */
    int addParts(List<String> names) {
        parts.addAll(names);
        partNanos = new long[parts.size()];
        return parts.size() - names.size();
    }

    /** Begins a batch, whose samples a timer counts; null for none. */
    public void reset(@Nullable SampleTimer timer) {
        samples = timer;
        readNanos = 0;
        decodeNanos = 0;
        transformNanos = 0;
        Arrays.fill(partNanos, 0);
    }

    /** Adds the time since a moment to what reading took: so many bytes of a sample. */
    void readSince(long begin, long sample, long bytes) {
        long nanos = now() - begin;
        readNanos += nanos;
        if (samples != null) {
            samples.read(sample, nanos, bytes);
        }
    }

    void decodedSince(long begin, int part, long sample) {
        long nanos = now() - begin;
        decodeNanos += nanos;
        partNanos[part] += nanos;
        if (samples != null) {
            samples.decoded(sample, nanos);
        }
    }

    void transformedSince(long begin, long sample) {
        long nanos = now() - begin;
        transformNanos += nanos;
        if (samples != null) {
            samples.transformed(sample, nanos);
        }
    }

    /** Times the parts of one map for one sample. */
    StageClock timing(int first, long begin) {
        firstPart = first;
        partBegan = begin;
        return this;
    }

    @Override
    public void done(int part) {
        long now = now();
        partNanos[firstPart + part] += EVERY * (now - partBegan);
        partBegan = now;
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

    /** Returns the names of the parts of the work: decoding, and those of maps. Two may have one name. */
    public List<String> parts() {
        return readOnlyParts;
    }

    /** Returns the time of each part, which the clock goes on to write: exact for decoding, estimated for maps. */
    public long[] partNanos() {
        return partNanos;
    }
}
