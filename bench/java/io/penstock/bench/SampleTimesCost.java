// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.dataset.reading.SampleTimer;
import java.util.Arrays;
import java.util.Locale;

/**
 * What it costs to count the times of single samples: a sample that is read, decoded and mapped, counted by a {@link
 * SampleTimer} as a worker does, and the same loop without one, by turns in one JVM. The times that are counted vary as
 * those of real samples do; looks at the clock are not part of it, because a loader takes them anyway.
 */
public final class SampleTimesCost {

    private static final int SAMPLES = 1 << 16;
    private static final int ROUNDS = 400;
    private static final int WARM_UP = 100;
    private static final int BATCH = 256;

    private SampleTimesCost() {
    }

    /** See {@code bench/README.md}. */
    public static void main(String[] args) {
        long[] nanos = new long[SAMPLES];
        long state = 42;
        for (int i = 0; i < SAMPLES; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            nanos[i] = 1_000 + (state >>> 44);                 // one to a thousand microseconds
        }
        var timer = new SampleTimer();
        double[] with = new double[ROUNDS];
        double[] without = new double[ROUNDS];
        long sum = 0;
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            long begin = System.nanoTime();
            sum += plain(nanos);
            long middle = System.nanoTime();
            sum += counted(nanos, timer);
            long end = System.nanoTime();
            if (round >= 0) {
                without[round] = (double) (middle - begin) / SAMPLES;
                with[round] = (double) (end - middle) / SAMPLES;
            }
        }
        double[] cost = new double[ROUNDS];
        Arrays.setAll(cost, i -> with[i] - without[i]);
        Arrays.sort(cost);
        System.out.printf(Locale.ROOT, "counting a sample costs %.2f ns (median of %d rounds of %d samples; 5 %% to"
                + " 95 %%: %.2f to %.2f ns; %d)%n", cost[ROUNDS / 2], ROUNDS, SAMPLES, cost[ROUNDS / 20],
                cost[ROUNDS - ROUNDS / 20], sum & 1);
    }

    private static long plain(long[] nanos) {
        long read = 0;
        long decoded = 0;
        long mapped = 0;
        for (int i = 0; i < nanos.length; i++) {
            read += nanos[i] >>> 4;
            decoded += nanos[i];
            mapped += nanos[i] >>> 2;
        }
        return read + decoded + mapped;
    }

    private static long counted(long[] nanos, SampleTimer timer) {
        long read = 0;
        long decoded = 0;
        long mapped = 0;
        for (int i = 0; i < nanos.length; i++) {
            if (i % BATCH == 0) {
                timer.end();
                timer.begin();
            }
            read += nanos[i] >>> 4;
            timer.read(i, nanos[i] >>> 4, nanos[i]);
            decoded += nanos[i];
            timer.decoded(i, nanos[i]);
            mapped += nanos[i] >>> 2;
            timer.transformed(i, nanos[i] >>> 2);
        }
        timer.end();
        return read + decoded + mapped;
    }
}
