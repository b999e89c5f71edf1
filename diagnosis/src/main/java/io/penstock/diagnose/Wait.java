// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.telemetry.BatchAccount.OnDevice;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * One wait of the trainer, split by the ordinal of the {@link Cause}; {@code orderedBehind} is what the batch itself
 * was doing during {@link Cause#ORDER}.
 */
record Wait(long nanos, long[] byCause, long[] orderedBehind) {

    /** A thread's wake-up time: anything shorter is not a wait. */
    static final long MIN_NANOS = 50_000;

    long nanos(Cause cause) {
        return byCause[cause.ordinal()];
    }

    /**
     * The stall of the trainer's stream that this wait of its thread led to. The part before the batch's copy began has
     * the thread's causes but the copy, in their proportions; without one, earlier copies were the cause. The rest is
     * the batch's own copy and stages.
     */
    Wait onDevice(OnDevice clock) {
        long late = Math.min(clock.lateNanos(), clock.exposedNanos());
        long others = nanos - nanos(Cause.COPY);
        double scale = counts() && others > 0 ? (double) late / others : 0;
        long[] causes = scaled(byCause, scale);
        causes[Cause.COPY.ordinal()] = 0;
        causes[Cause.COPY.ordinal()] = clock.exposedNanos() - Arrays.stream(causes).sum();
        return new Wait(clock.exposedNanos(), causes, scaled(orderedBehind, scale));
    }

    private static long[] scaled(long[] parts, double factor) {
        return Arrays.stream(parts).map(part -> (long) (part * factor)).toArray();
    }

    /** Whether it is long enough to analyze. */
    boolean counts() {
        return nanos >= MIN_NANOS;
    }

    /** Adds up the waits that are long enough, by the cause's ordinal. */
    static long[] sum(Stream<Wait> waits) {
        long[] sums = new long[Cause.values().length];
        waits.filter(Wait::counts).forEach(wait -> Arrays.setAll(sums, c -> sums[c] + wait.byCause[c]));
        return sums;
    }

    Cause largest() {
        return largest(byCause);
    }

    static Cause largest(long[] byCause) {
        Cause largest = Cause.OTHER;
        for (Cause cause : Cause.values()) {
            if (byCause[cause.ordinal()] > byCause[largest.ordinal()]) {
                largest = cause;
            }
        }
        return largest;
    }
}
