// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/**
 * What code allocates on the heap once it is warm. When that is, the compiler decides, and later on a busy machine: so
 * a round is measured again and again until it takes no more than it may, and often enough that it would be warm.
 */
public final class HeapUse {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int MOST_ROUNDS = 1_000;

    private HeapUse() {
    }

    /**
     * The fewest bytes that a round allocates on the calling thread.
     *
     * @param enough from which on no further round is needed
     * @param round what is measured
     * @return bytes
     */
    public static long fewest(long enough, Runnable round) {
        return fewest(enough, round, Thread.currentThread().threadId());
    }

    /**
     * The fewest bytes that a round allocates on some threads together.
     *
     * @param enough from which on no further round is needed
     * @param round what is measured
     * @param threads the threads' numbers
     * @return bytes
     */
    public static long fewest(long enough, Runnable round, long... threads) {
        long fewest = Long.MAX_VALUE;
        for (int i = 0; i < MOST_ROUNDS && fewest > enough; i++) {
            long before = allocated(threads);
            round.run();
            fewest = Math.min(fewest, allocated(threads) - before);
        }
        return fewest;
    }

    private static long allocated(long[] threads) {
        long sum = 0;
        for (long thread : threads) {
            sum += THREADS.getThreadAllocatedBytes(thread);
        }
        return sum;
    }
}
