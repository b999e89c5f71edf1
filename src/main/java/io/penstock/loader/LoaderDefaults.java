// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.io.ReadMode;
import java.time.Duration;

/** What a loader runs with where its settings say nothing. */
final class LoaderDefaults {

    static final String NAME = "penstock";
    static final int BATCH_SIZE = 1;
    static final ReadMode READ_MODE = ReadMode.AUTO;
    /** One less than there are processors, 1 to 4. */
    static final int WORKERS = Math.clamp(Runtime.getRuntime().availableProcessors() - 1, 1, 4);
    /** One that computes, one that arrives, one that waits. */
    static final int DEVICE_SLOTS = 3;
    /** The most that is asked for of files and not read yet. */
    static final long READ_AHEAD_BYTES = 8 << 20;
    static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final int LEAST_PREFETCH = 2;
    private static final int PREFETCH_PER_WORKER = 2;
    /**
     * Small batches are made, and copied to a GPU, faster than a thread wakes up, so this many batches, or this many
     * bytes, are made ahead.
     */
    private static final long SMALL_PREFETCH = 16;
    private static final long SMALL_PREFETCH_BYTES = 8 << 20;

    /** Batches that may wait, filled, ahead of the trainer. */
    static int prefetch(int workers, long slabBytes) {
        long small = Math.min(SMALL_PREFETCH, SMALL_PREFETCH_BYTES / Math.max(1, slabBytes));
        return (int) Math.max(Math.max(LEAST_PREFETCH, (long) PREFETCH_PER_WORKER * workers), small);
    }
}
