// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset.reading;

import io.penstock.telemetry.SampleTimes;
import io.penstock.telemetry.SampleTimes.Bucket;
import io.penstock.telemetry.SampleTimes.SizeClass;
import io.penstock.telemetry.SampleTimes.SlowSample;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongFunction;

/**
 * Counts how long the samples of one loader take on one worker's thread. The stage clock measures these times anyway,
 * so a sample costs some additions here and no look at a clock.
 *
 * <p>Times are counted in buckets of an eighth of a power of two, sizes in powers of two. Only the worker writes; any
 * thread may read, and sees what was written some time before.
 */
public final class SampleTimer {

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int MANTISSA_BITS = 3;
    /** Longer times, of more than an hour, count as this. */
    private static final long MOST_NANOS = (1L << 42) - 1;
    private static final int BUCKETS = bucket(MOST_NANOS) + 1;
    private static final int READ = 0;
    private static final int DECODE = BUCKETS;
    private static final int TRANSFORM = 2 * BUCKETS;
    private static final int SIZES = 3 * BUCKETS;
    /** For each size class the samples and their nanoseconds. */
    private static final int SIZE_CLASSES = Long.SIZE;
    private static final long NO_SAMPLE = -1;

    private final long[] counts = new long[SIZES + 2 * SIZE_CLASSES];
    /** The sample that is being made, and what it took so far. */
    private long sample = NO_SAMPLE;
    private long bytes;
    private long readNanos;
    private long decodeNanos;
    private long transformNanos;
    /** What a sample must exceed to be among the slowest. */
    private long slowNanos = -1;
    /** Guarded by this. */
    private final SlowTable slowest = new SlowTable();
    private volatile boolean restarted;

    /** The slowest samples, in no order. */
    private static final class SlowTable {
        final long[] samples = new long[SampleTimes.MOST_SLOW];
        final long[] bytes = new long[SampleTimes.MOST_SLOW];
        final long[] read = new long[SampleTimes.MOST_SLOW];
        final long[] decode = new long[SampleTimes.MOST_SLOW];
        final long[] transform = new long[SampleTimes.MOST_SLOW];
        int size;

        long nanos(int row) {
            return read[row] + decode[row] + transform[row];
        }

        /** The row of a sample, or else a free row, or the least one. */
        int rowOf(long sample) {
            int least = 0;
            for (int row = 0; row < size; row++) {
                if (samples[row] == sample) {
                    return row;
                }
                least = nanos(row) < nanos(least) ? row : least;
            }
            return size < samples.length ? size++ : least;
        }

        /** What a further sample must exceed. */
        long threshold() {
            if (size < samples.length) {
                return -1;
            }
            long least = Long.MAX_VALUE;
            for (int row = 0; row < size; row++) {
                least = Math.min(least, nanos(row));
            }
            return least;
        }
    }

    /** Forgets everything when the worker begins its next batch; until then there is nothing to read. Any thread. */
    public void restart() {
        restarted = true;
    }

    /** A batch begins. */
    public void begin() {
        if (restarted) {
            Arrays.fill(counts, 0);
            synchronized (this) {
                slowest.size = 0;
            }
            slowNanos = -1;
            restarted = false;
        }
    }

    /** A sample's stored bytes were read. */
    public void read(long which, long nanos, long size) {
        at(which);
        readNanos += nanos;
        bytes += size;
    }

    /** A sample was decoded. */
    public void decoded(long which, long nanos) {
        at(which);
        decodeNanos += nanos;
    }

    /** A sample was mapped or generated. */
    public void transformed(long which, long nanos) {
        at(which);
        transformNanos += nanos;
    }

    private void at(long which) {
        if (which != sample) {
            end();
            sample = which;
        }
    }

    /** The sample is complete; also called at the end of a batch. */
    public void end() {
        if (sample == NO_SAMPLE) {
            return;
        }
        long all = readNanos + decodeNanos + transformNanos;
        if (readNanos > 0) {
            add(READ + bucket(readNanos), 1);
        }
        if (decodeNanos > 0) {
            add(DECODE + bucket(decodeNanos), 1);
        }
        if (transformNanos > 0) {
            add(TRANSFORM + bucket(transformNanos), 1);
        }
        int sizeClass = SIZES + 2 * (Long.SIZE - Long.numberOfLeadingZeros(bytes));
        add(sizeClass, 1);
        add(sizeClass + 1, all);
        if (all > slowNanos) {
            keep();
        }
        sample = NO_SAMPLE;
        bytes = 0;
        readNanos = 0;
        decodeNanos = 0;
        transformNanos = 0;
    }

    private synchronized void keep() {
        int before = slowest.size;
        int row = slowest.rowOf(sample);
        if (row < before && slowest.samples[row] == sample
                && slowest.nanos(row) >= readNanos + decodeNanos + transformNanos) {
            return;
        }
        slowest.samples[row] = sample;
        slowest.bytes[row] = bytes;
        slowest.read[row] = readNanos;
        slowest.decode[row] = decodeNanos;
        slowest.transform[row] = transformNanos;
        slowNanos = slowest.threshold();
    }

    private void add(int index, long amount) {
        ELEMENT.setOpaque(counts, index, counts[index] + amount);
    }

    private static int bucket(long nanos) {
        long value = Math.min(nanos, MOST_NANOS);
        int shift = Math.max(0, Long.SIZE - 1 - MANTISSA_BITS - Long.numberOfLeadingZeros(value));
        return (shift << MANTISSA_BITS) + (int) (value >>> shift);
    }

    /** Returns the least time of a bucket. */
    private static long least(int bucket) {
        int shift = Math.max(0, (bucket >> MANTISSA_BITS) - 1);
        return (long) (bucket - (shift << MANTISSA_BITS)) << shift;
    }

    /** Returns what several timers of a loader have counted; the function names a sample. */
    public static SampleTimes sum(List<SampleTimer> timers, LongFunction<String> name) {
        long[] sum = new long[SIZES + 2 * SIZE_CLASSES];
        List<SlowSample> slow = new ArrayList<>();
        for (SampleTimer timer : timers) {
            if (!timer.restarted) {
                Arrays.setAll(sum, i -> sum[i] + (long) ELEMENT.getOpaque(timer.counts, i));
                timer.addSlowest(slow, name);
            }
        }
        slow.sort(Comparator.comparingLong(SlowSample::nanos).reversed());
        Set<Long> named = new HashSet<>();
        slow.removeIf(one -> !named.add(one.sample()));
        return new SampleTimes(buckets(sum, READ), buckets(sum, DECODE), buckets(sum, TRANSFORM), sizes(sum),
                slow.subList(0, Math.min(slow.size(), SampleTimes.MOST_SLOW)));
    }

    private synchronized void addSlowest(List<SlowSample> to, LongFunction<String> name) {
        for (int row = 0; row < slowest.size; row++) {
            to.add(new SlowSample(slowest.samples[row], name.apply(slowest.samples[row]), slowest.bytes[row],
                    slowest.read[row], slowest.decode[row], slowest.transform[row]));
        }
    }

    private static List<Bucket> buckets(long[] sum, int from) {
        List<Bucket> buckets = new ArrayList<>();
        for (int i = 0; i < BUCKETS; i++) {
            if (sum[from + i] > 0) {
                buckets.add(new Bucket(least(i), least(i + 1) - 1, sum[from + i]));
            }
        }
        return buckets;
    }

    private static List<SizeClass> sizes(long[] sum) {
        List<SizeClass> sizes = new ArrayList<>();
        for (int i = 0; i < SIZE_CLASSES; i++) {
            if (sum[SIZES + 2 * i] > 0) {
                sizes.add(new SizeClass(i == 0 ? 0 : 1L << (i - 1), sum[SIZES + 2 * i], sum[SIZES + 2 * i + 1]));
            }
        }
        return sizes;
    }
}
