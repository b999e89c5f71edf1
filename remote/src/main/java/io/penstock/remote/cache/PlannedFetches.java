// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import io.penstock.io.FetchAhead;
import io.penstock.io.MappedFile;
import io.penstock.os.ThreadStart;
import io.penstock.os.Uninterrupted;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Fetches ahead for one loader, in a thread of its own. It fetches the missing blocks of the next batches in the order
 * of their first use, and writes into the {@link CachePlan} when all batches up to the end of the next epoch read which
 * blocks, so that the cache drops what is read last.
 *
 * <p>How far ahead it fetches follows from the time of a fetch and the rate of batches: a block is requested four times
 * that time before it is needed, since some fetches take longer.
 */
final class PlannedFetches implements FetchAhead {

    private static final System.Logger LOG = System.getLogger(PlannedFetches.class.getName());

    /** Positions of an epoch that are sampled to find the files, then for each block, then at most. */
    private static final int FEW_POSITIONS = 1 << 16;
    private static final int POSITIONS_PER_BLOCK = 32;
    private static final int MOST_POSITIONS = 1 << 22;
    /** How many distant batches are planned for the cache before the near ones are checked again. */
    private static final int FAR_BATCHES = 64;
    private static final long MOST_BATCHES = 1 << 30;
    /** How many batches ahead to fetch until the time of a fetch is known. */
    private static final long FIRST_LEAD = 16;
    private static final long MOST_LEAD = 1 << 14;
    private static final int MARGIN = 4;
    private static final long PAUSE_NANOS = 2_000_000;
    /** The pause between two checks for missing blocks, if none was missing. */
    private static final long REST_NANOS = 50_000_000;

    private final CachePlan plan;
    private final Epoch epoch;
    private final Taker near = this::fetch;
    private final Taker far = this::add;
    private final Thread thread;
    private final Fetched before;
    private volatile @Nullable Run begun;
    private volatile boolean closed;

    /** Whether all files fit in the cache: then nothing is ever dropped. */
    private boolean fits;
    /** The next batch to fetch, and the next to announce to the cache. */
    private long nearBatch;
    private long farBatch;
    private boolean mustWait;
    /** Whether nothing was missing at the last check. */
    private boolean isComplete;
    private long lookedAt;
    private long lead = FIRST_LEAD;
    private long batchNanos;
    private long measuredBatch;
    private long measuredAt;

    private PlannedFetches(CachePlan plan, Epoch epoch) {
        this.plan = plan;
        this.epoch = epoch;
        this.before = plan.fetched();
        this.thread = Thread.ofPlatform().daemon().name(epoch.name() + "-plan").unstarted(this::work);
    }

    /**
     * Opens a plan, and closes it if that fails. Throws {@link IllegalArgumentException} if the cache is too small for
     * the order.
     */
    static PlannedFetches open(CachePlan plan, Epoch epoch) {
        try {
            var ahead = new PlannedFetches(plan, epoch);
            ahead.check();
            plan.clear();
            ThreadStart.start(ahead.thread, "reading remote files ahead");
            return ahead;
        } catch (Throwable t) {
            plan.close();
            throw t;
        }
    }

    /** Looks whether the files fit in the cache. Fails if they do not, and the cache is too small for the order. */
    private void check() {
        epoch.sample(FEW_POSITIONS, far);
        fits = plan.fits();
        if (!fits) {
            plan.clear();
            long wanted = Math.clamp(POSITIONS_PER_BLOCK * plan.blocks(), FEW_POSITIONS, MOST_POSITIONS);
            plan.check((double) epoch.size() / epoch.sample(wanted, far));
        }
    }

    private void add(MappedFile file, long offset, long bytes, long step) {
        plan.add(file.fetcher(), offset, bytes, step);
    }

    private void fetch(MappedFile file, long offset, long bytes, long step) {
        if (!mustWait) {
            try {
                mustWait = !plan.fetchAhead(file.fetcher(), offset, bytes, step);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public void begin(Run run) {
        begun = run;
        LockSupport.unpark(thread);
    }

    private void work() {
        Run run = null;
        while (!closed) {
            Run latest = begun;
            if (latest == null) {
                LockSupport.park(this);
            } else {
                try {
                    if (latest != run) {
                        run = latest;
                        restart();
                    }
                    step(latest);
                } catch (RuntimeException | InternalError e) {
                    if (!closed) {
                        LOG.log(System.Logger.Level.WARNING, "{0}: remote files are not read ahead any more: {1}",
                                thread.getName(), e.toString());
                    }
                    return;
                }
            }
        }
    }

    private void restart() {
        plan.clear();
        if (fits) {
            plan.addAll();
        }
        nearBatch = 0;
        farBatch = 0;
        measuredBatch = 0;
        batchNanos = 0;
        measuredAt = epoch.nanoTime().getAsLong();
        isComplete = false;
    }

    private void step(Run run) {
        if (fits && epoch.nanoTime().getAsLong() - lookedAt > REST_NANOS) {
            lookedAt = epoch.nanoTime().getAsLong();
            isComplete = plan.isComplete();
        }
        if (isComplete) {
            LockSupport.parkNanos(this, REST_NANOS);
            return;
        }
        long claimed = Math.min(run.claimed(), MOST_BATCHES);
        plan.reached(Math.max(0, claimed - epoch.workers()));
        measure(claimed);
        fetchNear(run, claimed);
        if (fits || !planFar(run, claimed)) {
            LockSupport.parkNanos(this, PAUSE_NANOS);
        }
    }

    private void measure(long claimed) {
        long now = epoch.nanoTime().getAsLong();
        if (claimed > measuredBatch) {
            long each = (now - measuredAt) / (claimed - measuredBatch);
            // Slow batches may be those that waited for bytes: no reason to fetch the next ones later.
            batchNanos = batchNanos == 0 ? each : batchNanos + (each - batchNanos) / (each < batchNanos ? 4 : 32);
            measuredBatch = claimed;
            measuredAt = now;
        }
        long latency = plan.latencyNanos();
        lead = latency == 0 ? FIRST_LEAD
                : Math.clamp(MARGIN * latency / Math.max(1, batchNanos), epoch.workers() + 1, MOST_LEAD);
    }

    /** Starts fetching the missing blocks of the next batches. */
    private void fetchNear(Run run, long claimed) {
        nearBatch = Math.max(nearBatch, claimed);
        mustWait = false;
        while (!closed && !mustWait && nearBatch <= claimed + lead && run.has(nearBatch)) {
            run.locate(nearBatch, near);
            nearBatch += mustWait ? 0 : 1;
        }
    }

    /** Announces some more batches, up to the end of the next epoch; returns whether there were any. */
    private boolean planFar(Run run, long claimed) {
        long end = run.epochOf(Math.max(0, claimed - epoch.workers())) + 1;
        for (int i = 0; i < FAR_BATCHES; i++, farBatch++) {
            if (closed || farBatch >= MOST_BATCHES || !run.has(farBatch) || run.epochOf(farBatch) > end) {
                return i > 0;
            }
            if (farBatch == 0 || run.epochOf(farBatch) != run.epochOf(farBatch - 1)) {
                plan.epoch(farBatch);
            }
            run.locate(farBatch, far);
        }
        return true;
    }

    @Override
    public Fetched fetched() {
        Fetched now = plan.fetched();
        return new Fetched(now.bytes() - before.bytes(), now.blocks() - before.blocks(),
                now.requests() - before.requests());
    }

    /** Ends the thread and the plan. Calling it again does nothing. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            LockSupport.unpark(thread);
            Uninterrupted.join(thread);
            plan.close();
        }
    }
}
