// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

/**
 * How long a step takes on a pipeline of stages that each hold an equal part of the model, by the schedule of one
 * forward, one backward (PipeDream-Flush, Narayanan et al. 2021): stage s runs the forward passes of {@code stages - s}
 * micro-batches, then one backward and one forward in turn, then what is left. A backward pass takes twice as long as a
 * forward one. Sending takes no time.
 */
public final class PipelineClock {

    private static final int BACKWARD = 2;

    private PipelineClock() {
    }

    /** The time of a step of micro-batches, of the time that each takes forward on one stage: at least 1. */
    public static long step(int stages, long... costs) {
        int count = costs.length;
        long[][] forward = new long[stages][count];     // when each pass has ended; 0 before it has run
        long[][] backward = new long[stages][count];
        long[] now = new long[stages];
        int[] passes = new int[stages];
        for (int left = 2 * stages * count; left > 0;) {
            int before = left;
            for (int s = 0; s < stages; s++) {
                while (passes[s] < 2 * count) {
                    boolean isForward = isForward(passes[s], Math.min(count, stages - s), count);
                    int batch = number(passes[s], Math.min(count, stages - s), count);
                    long ready = !isForward ? s == stages - 1 ? forward[s][batch] : backward[s + 1][batch]
                            : s == 0 ? -1 : forward[s - 1][batch];
                    if (ready == 0) {
                        break;
                    }
                    now[s] = Math.max(now[s], ready) + (isForward ? 1 : BACKWARD) * costs[batch];
                    (isForward ? forward : backward)[s][batch] = now[s];
                    passes[s]++;
                    left--;
                }
            }
            if (left == before) {
                throw new AssertionError("the schedule stands still");
            }
        }
        long end = 0;
        for (long stage : now) {
            end = Math.max(end, stage);
        }
        return end;
    }

    /** The share of all stages' time in which they wait, if each of the pipelines of a step waits for the slowest. */
    public static double idle(int stages, long[]... pipelines) {
        long end = 0;
        long work = 0;
        for (long[] costs : pipelines) {
            end = Math.max(end, step(stages, costs));
            for (long cost : costs) {
                work += (1 + BACKWARD) * cost;
            }
        }
        return 1 - (double) work / ((double) end * pipelines.length);
    }

    private static boolean isForward(int pass, int first, int count) {
        return pass < first || pass < 2 * count - first && (pass - first) % 2 == 1;
    }

    private static int number(int pass, int first, int count) {
        return pass < first ? pass : pass >= 2 * count - first ? pass - count
                : (pass - first) % 2 == 1 ? first + (pass - first) / 2 : (pass - first) / 2;
    }
}
