// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.Dataset;
import io.penstock.io.FetchAhead;
import io.penstock.io.ReadAhead;

/**
 * One worker's part in reading ahead for all workers: plans batches that nobody has claimed yet and has the OS begin to
 * read their samples, so that a device has enough reads in flight, however few workers there are.
 *
 * <p>The run decides which batch is next, so each is requested once. How far ahead follows from the time of the last
 * batches. While nothing is cold, a batch costs one comparison.
 */
final class BatchesAhead {

    /** This many reads keep any device busy; more would only wait in its queue. */
    private static final long AUTOMATIC_RANGES = 256;
    /** Adjacent samples are requested in runs of this size, however small a batch is. */
    private static final long RUN_BYTES = 1 << 20;
    /** Samples count as adjacent if at least this many form a run. */
    private static final int NEIGHBORS = 8;
    private static final int MOST_BATCHES = 1024;
    /** The lead over the workers grows by one less at each batch: the first one is not late. */
    private static final int STEPS = 2;
    private static final long REST_NANOS = 20_000_000;

    private final ReadAhead ahead = new ReadAhead();
    private final PlannedSpans spans;
    private final FetchAhead.Taker taker = (file, offset, bytes, _) -> ahead.add(file, offset, bytes);
    private final int workers;
    private final long mostBytes;
    /** How many batches ahead of the one that is claimed, and how many are asked for at once. */
    private long lead;
    private long atOnce = 1;
    private long restUntilNanos;
    private boolean rests;

    BatchesAhead(Dataset dataset, int batchSize, int workers, long mostBytes) {
        this.spans = new PlannedSpans(dataset, batchSize);
        this.workers = workers;
        this.lead = workers;
        this.mostBytes = mostBytes;
    }

    /**
     * Announces a claimed batch, before it is filled. Never throws: the worker that fills the batch reports its errors.
     */
    void claimed(PlannedRun run, long number, long now) {
        if (rests && now - restUntilNanos < 0) {
            return;
        }
        rests = false;
        try {
            for (int step = 0; step < STEPS && !rests; step++) {
                long first = run.claimAhead(number, number + lead, atOnce);
                if (first < 0) {
                    return;
                }
                ask(run, first, now);
            }
        } catch (RuntimeException | InternalError _) {
            // A batch that cannot be planned, or a page of an index that is gone.
        }
    }

    private void ask(PlannedRun run, long first, long now) {
        long bytes = ahead.bytes();
        long ranges = ahead.ranges();
        long n = first;
        for (; n < first + atOnce && run.has(n); n++) {
            spans.locate(run.batches, n, taker);
        }
        ahead.flush();
        adapt(n - first, ahead.bytes() - bytes, ahead.ranges() - ranges, now);
    }

    private void adapt(long batches, long bytes, long ranges, long now) {
        if (bytes == 0) {
            rests = true;
            restUntilNanos = now + REST_NANOS;
            return;
        }
        long batchBytes = Math.ceilDiv(bytes, batches);
        long inQueue = Math.min(mostBytes / batchBytes, AUTOMATIC_RANGES * batches / ranges);
        lead = Math.clamp(inQueue, workers, MOST_BATCHES);
        boolean inOrder = ranges * NEIGHBORS <= batches * spans.count();
        atOnce = inOrder ? Math.clamp(Math.min(RUN_BYTES, mostBytes / 2) / batchBytes, 1, MOST_BATCHES) : 1;
    }
}
