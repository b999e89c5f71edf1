// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import io.penstock.telemetry.Accounts;
import io.penstock.telemetry.BatchAccount;
import java.util.Arrays;
import java.util.List;

/**
 * The trainer's latest steps, from their batches' accounts; times are sorted. A step lasts from the request for its
 * batch to the next request; an epoch's last step has no end and is left out.
 *
 * @param readyBatches the mean number of complete batches at the trainer's request; NaN if not measured
 * @param freeSlots the mean number of empty host slots; NaN if not measured
 */
record RecentSteps(long atNanos, int steps, long[] stepNanos, long[] waitNanos, double readyBatches, double freeSlots) {

    /** The maximum number of steps covered. */
    private static final int MOST = 1000;

    static RecentSteps of(Accounts accounts, long now) {
        List<BatchAccount> latest = accounts.since(Math.max(0, accounts.newest() - MOST));
        long[] stepNanos = new long[latest.size()];
        long[] waitNanos = new long[latest.size()];
        int steps = 0;
        double ready = 0;
        double free = 0;
        int looked = 0;
        for (int i = 0; i + 1 < latest.size(); i++) {
            BatchAccount.Taking taking = latest.get(i).taking();
            BatchAccount next = latest.get(i + 1);
            if (next.sequence() == latest.get(i).sequence() + 1 && !next.first()) {
                stepNanos[steps] = next.taking().requestedAt() - taking.requestedAt();
                waitNanos[steps++] = taking.waitNanos();
            }
            if (taking.readyBatches() >= 0 && taking.freeSlots() >= 0) {
                ready += taking.readyBatches();
                free += taking.freeSlots();
                looked++;
            }
        }
        long[] sortedSteps = Arrays.copyOf(stepNanos, steps);
        long[] sortedWaits = Arrays.copyOf(waitNanos, steps);
        Arrays.sort(sortedSteps);
        Arrays.sort(sortedWaits);
        return new RecentSteps(now, steps, sortedSteps, sortedWaits, ready / looked, free / looked);
    }

    double stepSeconds(double quantile) {
        return seconds(stepNanos, quantile);
    }

    double waitSeconds(double quantile) {
        return seconds(waitNanos, quantile);
    }

    /** A quantile of the steps, by nearest rank. */
    private static double seconds(long[] sorted, double quantile) {
        return sorted.length == 0 ? Double.NaN
                : sorted[Math.clamp((int) Math.ceil(quantile * sorted.length) - 1, 0, sorted.length - 1)] * 1e-9;
    }

    /** The share of these steps not spent waiting; NaN without steps. */
    double utilization() {
        return 1 - (double) Arrays.stream(waitNanos).sum() / Arrays.stream(stepNanos).sum();
    }
}
