// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/**
 * The samples of a window with their costs, the most costly first, equal ones in their order.
 *
 * @param samples the samples
 * @param costs the cost of each
 */
record CostlyFirst(long[] samples, long[] costs) {

    /** Costs are below this. */
    static final long MAX_COST = 1L << 38;

    private static final int INDEX_BITS = Integer.numberOfTrailingZeros(WorkBalance.MAX_WINDOW);

    static CostlyFirst of(long[] inOrder, LongUnaryOperator costs) {
        int count = inOrder.length;
        long[] keys = new long[count];
        for (int i = 0; i < count; i++) {
            keys[i] = MAX_COST - 1 - cost(costs, inOrder[i]) << INDEX_BITS | i;
        }
        Arrays.sort(keys);
        long[] samples = new long[count];
        for (int i = 0; i < count; i++) {
            samples[i] = inOrder[(int) (keys[i] & (1 << INDEX_BITS) - 1)];
            keys[i] = MAX_COST - 1 - (keys[i] >>> INDEX_BITS);
        }
        return new CostlyFirst(samples, keys);
    }

    static long cost(LongUnaryOperator costs, long sample) {
        long cost = costs.applyAsLong(sample);
        if (cost < 0 || cost >= MAX_COST) {
            throw new IllegalArgumentException("sample " + sample + " has cost " + cost + ", expected 0 to "
                    + (MAX_COST - 1));
        }
        return cost;
    }
}
