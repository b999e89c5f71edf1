// SPDX-License-Identifier: Apache-2.0
package io.penstock.internal;

import java.util.Objects;
import java.util.function.IntToLongFunction;

/**
 * Consecutive runs of elements: where each starts, and which one holds an element. Immutable; keeps the running sums of
 * the runs' lengths, 8 bytes a run.
 */
public final class PrefixSums {

    private final long[] starts;

    private PrefixSums(long[] starts) {
        this.starts = starts;
    }

    /** Creates runs with given starts, ascending, then the number of all elements; the array is not copied. */
    public static PrefixSums of(long[] starts) {
        return new PrefixSums(starts);
    }

    /**
     * Creates runs with given lengths; throws {@link ArithmeticException} if they have 2^63 elements or more in total.
     */
    public static PrefixSums ofLengths(int runs, IntToLongFunction length) {
        long[] starts = new long[runs + 1];
        for (int run = 0; run < runs; run++) {
            starts[run + 1] = Math.addExact(starts[run], length.applyAsLong(run));
        }
        return new PrefixSums(starts);
    }

    public int runs() {
        return starts.length - 1;
    }

    /** {@return the number of elements in all runs} */
    public long total() {
        return starts[starts.length - 1];
    }

    /** Returns the first element of a run; for the number of runs, {@link #total}. */
    public long start(int run) {
        return starts[run];
    }

    public long length(int run) {
        return starts[run + 1] - starts[run];
    }

    /**
     * Returns the run that holds an element, skipping empty runs: the last run that starts at or before the element.
     */
    public int runOf(long element) {
        return runOf(Objects.checkIndex(element, total()), 0, starts.length - 2);
    }

    /** Returns the run that holds an element, if it is one from {@code first} to {@code last}. */
    public int runOf(long element, int first, int last) {
        int low = first;
        int high = last;
        while (low < high) {
            int middle = low + high + 1 >>> 1;
            if (starts[middle] <= element) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }
}
