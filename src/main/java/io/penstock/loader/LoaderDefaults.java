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
     * Small batches are made faster than a thread wakes up, so up to this many are made ahead, of at most these bytes.
     * Slots that are lent in place must fit in the processor's cache together: beyond it, they are filled at half the
     * speed. For copies to a GPU, more batches ahead matter more.
     */
    private static final long SMALL_PREFETCH = 16;
    private static final long IN_PLACE_BYTES = 2 << 20;
    private static final long COPIED_BYTES = 8 << 20;

    /**
     * Batches that may wait, filled, ahead of the trainer.
     *
     * @param copies whether they are copied to the device, not lent in place
     */
    static int prefetch(int workers, long slabBytes, boolean copies) {
        long small = Math.min(SMALL_PREFETCH, (copies ? COPIED_BYTES : IN_PLACE_BYTES) / Math.max(1, slabBytes));
        return (int) Math.max(Math.max(LEAST_PREFETCH, (long) PREFETCH_PER_WORKER * workers), small);
    }
}
