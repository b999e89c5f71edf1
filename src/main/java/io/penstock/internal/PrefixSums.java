// SPDX-License-Identifier: Apache-2.0
package io.penstock.internal;

import java.util.Objects;
import java.util.function.IntToLongFunction;

/**
 * Consecutive runs of elements: where each starts, and which one holds an element. Immutable; keeps the running sums of
 * the runs' lengths, 8 bytes a run.
 */
public final class PrefixSums {

    /** An index has up to {@code 1 << INDEX_SHIFT} entries a run. */
    private static final int INDEX_SHIFT = 4;
    private static final int MOST_INDEXED = 1 << 20;

    private final long[] starts;
    /** For each {@code 1 << shift} elements, the run that holds the first of them, and the last run; or none. */
    private final int[] index;
    private final int shift;

    private PrefixSums(long[] starts) {
        this(starts, new int[0], 0);
    }

    private PrefixSums(long[] starts, int[] index, int shift) {
        this.starts = starts;
        this.index = index;
        this.shift = shift;
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

    /**
     * Returns the same runs with an index, for look-ups in random order: one that a binary search finds with several
     * branches that no processor can predict is found at once. It takes up to 64 bytes a run; without elements, or with
     * more than a million runs, there is none.
     */
    public PrefixSums indexed() {
        if (total() == 0 || runs() > MOST_INDEXED) {
            return this;
        }
        int shift = 0;
        while (total() - 1 >>> shift >= (long) runs() << INDEX_SHIFT) {
            shift++;
        }
        int[] index = new int[(int) (total() - 1 >>> shift) + 2];
        for (int i = 0, run = 0; i < index.length - 1; i++) {
            run = runOf((long) i << shift, run, runs() - 1);
            index[i] = run;
        }
        index[index.length - 1] = runs() - 1;
        return new PrefixSums(starts, index, shift);
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
        long checked = Objects.checkIndex(element, total());
        if (index.length == 0) {
            return runOf(checked, 0, starts.length - 2);
        }
        int entry = (int) (checked >>> shift);
        int first = index[entry];
        int last = index[entry + 1];
        // One of two runs at most, in general: found without a branch.
        return last - first > 1 ? runOf(checked, first, last)
                : first + ((int) (starts[last] - 1 - checked >>> Long.SIZE - 1) & last - first);
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
