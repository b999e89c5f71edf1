package io.penstock.memory;

import java.util.Objects;
import java.util.function.IntToLongFunction;

/**
 * Runs of elements one behind the other: where each begins, and which of them has an element. Immutable; keeps the
 * running sums of the runs' lengths, 8 bytes a run.
 */
public final class PrefixSums {

    /** The first element of each run, and the number of all elements. */
    private final long[] starts;

    private PrefixSums(long[] starts) {
        this.starts = starts;
    }

    /**
     * Runs by where they begin.
     *
     * @param starts the first element of each run, ascending, and behind them the number of all elements; not copied
     * @return the runs
     */
    public static PrefixSums of(long[] starts) {
        return new PrefixSums(starts);
    }

    /**
     * Runs by their lengths.
     *
     * @param runs how many there are
     * @param length the elements of each
     * @return the runs
     * @throws ArithmeticException if they have 2^63 elements or more in all
     */
    public static PrefixSums ofLengths(int runs, IntToLongFunction length) {
        long[] starts = new long[runs + 1];
        for (int run = 0; run < runs; run++) {
            starts[run + 1] = Math.addExact(starts[run], length.applyAsLong(run));
        }
        return new PrefixSums(starts);
    }

    /**
     * The number of runs.
     *
     * @return the count
     */
    public int runs() {
        return starts.length - 1;
    }

    /**
     * The elements of all runs together.
     *
     * @return the count
     */
    public long total() {
        return starts[starts.length - 1];
    }

    /**
     * Where a run begins.
     *
     * @param run the run; the one behind the last begins at {@link #total}
     * @return its first element
     */
    public long start(int run) {
        return starts[run];
    }

    /**
     * How long a run is.
     *
     * @param run the run
     * @return its elements
     */
    public long length(int run) {
        return starts[run + 1] - starts[run];
    }

    /**
     * The run that has an element: the last one that begins at it or before it, so that empty runs are passed over.
     *
     * @param element the element
     * @return the run
     * @throws IndexOutOfBoundsException if there is no such element
     */
    public int runOf(long element) {
        return runOf(Objects.checkIndex(element, total()), 0, starts.length - 2);
    }

    /**
     * The run that has an element, where it is known to be among a few.
     *
     * @param element the element
     * @param first the first run that may have it
     * @param last the last run that may have it
     * @return the run
     */
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
