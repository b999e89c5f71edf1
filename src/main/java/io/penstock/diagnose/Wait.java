// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import java.util.Arrays;
import java.util.stream.Stream;

/**
 * One wait of the trainer, split.
 *
 * @param nanos its duration
 * @param byCause its parts, by the ordinal of their {@link Cause}; they add up to it
 * @param orderedBehind what the batch itself was doing during {@link Cause#ORDER}
 */
record Wait(long nanos, long[] byCause, long[] orderedBehind) {

    /** A thread's wake-up time: anything shorter is not a wait. */
    static final long MIN_NANOS = 50_000;

    long nanos(Cause cause) {
        return byCause[cause.ordinal()];
    }

    /** Whether it is long enough to analyze. */
    boolean counts() {
        return nanos >= MIN_NANOS;
    }

    /** Adds up the waits that are long enough, by the cause's ordinal. */
    static long[] sum(Stream<Wait> waits) {
        long[] sums = new long[Cause.values().length];
        waits.filter(Wait::counts).forEach(wait ->
                Arrays.setAll(sums, c -> sums[c] + wait.byCause[c]));
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
