// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import io.penstock.io.FetchAhead;
import io.penstock.io.MappedFile;
import io.penstock.io.publish.DecodedCache.Block;
import io.penstock.os.ThreadStart;
import io.penstock.os.Uninterrupted;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the blocks of a {@link DecodedCache} before a loader's workers read them, and tells the cache when each is
 * read next. It plans as many batches as have blocks for three quarters of the cache, so that what it decodes is not
 * dropped unread. One thread; what it cannot decode or locate is left to the worker that reads it, which reports why.
 */
final class DecodeAhead implements FetchAhead {

    private static final long PAUSE_NANOS = 500_000;
    private static final long MOST_BATCHES = 1 << 16;
    /** Steps of one run are after those of the runs before. */
    private static final long STEPS_OF_RUN = 1L << 40;

    private final DecodedCache cache;
    private final int workers;
    private final Thread thread;
    private final Taker taker = this::plan;
    /** The blocks that planned batches read, and of those the ones that were not looked at yet, in order. */
    private final List<Block> window = new ArrayList<>();
    private final ArrayDeque<Block> ahead = new ArrayDeque<>();
    private volatile @Nullable Run begun;
    private volatile boolean closed;
    private long base;
    private long claimed;
    private long planned;
    private long windowBytes;

    private DecodeAhead(DecodedCache cache, Epoch epoch) {
        this.cache = cache;
        this.workers = epoch.workers();
        this.thread = Thread.ofPlatform().daemon().name(epoch.name() + "-decode").unstarted(this::work);
    }

    /** Opens a plan; none if another loader has one. */
    static Optional<FetchAhead> open(DecodedCache cache, Epoch epoch) {
        if (!cache.beginPlan()) {
            return Optional.empty();
        }
        var ahead = new DecodeAhead(cache, epoch);
        try {
            ThreadStart.start(ahead.thread, "decoding rows ahead");
        } catch (Throwable t) {
            cache.endPlan();
            throw t;
        }
        return Optional.of(ahead);
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
                continue;
            }
            if (latest != run) {
                run = latest;
                base += STEPS_OF_RUN;
                planned = 0;
                window.clear();
                ahead.clear();
                windowBytes = 0;
            }
            try {
                if (!step(latest)) {
                    LockSupport.parkNanos(this, PAUSE_NANOS);
                }
            } catch (RuntimeException | InternalError _) {
                // The worker that reads the same rows reports it.
            }
        }
    }

    /** Plans batches and decodes one block; returns whether there was one to decode. */
    private boolean step(Run run) {
        reach(run.claimed());
        planned = Math.max(planned, claimed);
        while (planned < claimed + MOST_BATCHES && run.has(planned)
                && (windowBytes < cache.maxBytes() / 4 * 3 || planned <= claimed + workers)) {
            run.locate(planned, taker);
            planned++;
        }
        while (!ahead.isEmpty()) {
            Block next = ahead.removeFirst();
            if (!next.isThere() && next.lastStep >= base + claimed) {
                int _ = cache.decode(next);
                return true;
            }
        }
        return false;
    }

    /** Forgets the blocks that are read only by batches before those that workers have at the moment. */
    private void reach(long nextBatch) {
        long now = Math.max(0, nextBatch - workers);
        if (now == claimed && planned > 0) {
            return;
        }
        claimed = now;
        cache.reached(base + now);
        int kept = 0;
        windowBytes = 0;
        for (int i = 0; i < window.size(); i++) {
            Block block = window.get(i);
            if (block.lastStep >= base + now) {
                window.set(kept++, block);
                windowBytes += block.estimatedBytes();
            }
        }
        window.subList(kept, window.size()).clear();
    }

    private void plan(MappedFile file, long offset, long bytes, long step) {
        Block block = cache.planned(file, offset);
        if (block == null) {
            return;
        }
        long at = base + step;
        if (block.lastStep < base + claimed) {
            window.add(block);
            ahead.addLast(block);
            windowBytes += block.estimatedBytes();
        }
        if (block.nextStep < base + claimed) {
            block.nextStep = at;
        }
        block.lastStep = Math.max(block.lastStep, at);
    }

    /** {@inheritDoc} Nothing is fetched from elsewhere. */
    @Override
    public Fetched fetched() {
        return new Fetched(0, 0, 0);
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            LockSupport.unpark(thread);
            Uninterrupted.join(thread);
            cache.endPlan();
        }
    }
}
