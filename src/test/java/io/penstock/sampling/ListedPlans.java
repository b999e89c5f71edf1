// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

/** Plans whose every member a test chooses. */
public final class ListedPlans {

    private ListedPlans() {
    }

    /** A batch of these samples at positions {@code first}, {@code first + world}, … of an epoch. */
    public static BatchPlan of(long epoch, long first, int world, int valid, long... samples) {
        var plan = new BatchPlan(samples.length);
        System.arraycopy(samples, 0, plan.samples(), 0, samples.length);
        plan.set(0, epoch, 0, first, world, samples.length, valid);
        return plan;
    }
}
