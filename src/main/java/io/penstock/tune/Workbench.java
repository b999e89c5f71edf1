package io.penstock.tune;

import java.io.IOException;

/** What a search measures on. One thread uses it. */
public interface Workbench {

    /**
     * The memory that a setting takes.
     *
     * @param candidate the setting
     * @return bytes of host and device slots
     */
    long memoryBytes(Candidate candidate);

    /**
     * Runs a loader with a setting for a while.
     *
     * @param candidate the setting
     * @param nanos about how long
     * @param stepNanos how long each batch is held; 0 to take batches as fast as they come
     * @return what it gave
     * @throws InterruptedException if the thread was interrupted
     * @throws IOException if the data cannot be opened
     */
    Round measure(Candidate candidate, long nanos, long stepNanos) throws InterruptedException, IOException;

    /**
     * The time that budgets are counted in.
     *
     * @return nanoseconds since some moment
     */
    default long nanoTime() {
        return System.nanoTime();
    }
}
