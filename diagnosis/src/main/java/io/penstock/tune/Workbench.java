// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import java.io.IOException;

/** Measures settings for a search. Not thread-safe. */
public interface Workbench {

    /**
     * {@return the bytes of host and device slots that a setting needs}
     *
     * @param candidate the setting
     */
    long memoryBytes(SearchPoint candidate);

    /**
     * Runs a loader with a setting for a while.
     *
     * @param candidate the setting
     * @param nanos approximate duration
     * @param stepNanos how long each batch is held; 0 to take batches as fast as possible
     * @return the measurements
     * @throws InterruptedException if the thread was interrupted
     * @throws IOException if the data cannot be opened
     */
    Round measure(SearchPoint candidate, long nanos, long stepNanos) throws InterruptedException, IOException;

    /** {@return the clock of budgets, in nanoseconds since an arbitrary time} */
    default long nanoTime() {
        return System.nanoTime();
    }
}
