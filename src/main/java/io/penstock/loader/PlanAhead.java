// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.reading.SampleRanges;
import io.penstock.io.MappedFile;
import io.penstock.io.RangeFetcher;
import io.penstock.io.ReadPlan;
import io.penstock.os.ThreadStart;
import io.penstock.os.Uninterrupted;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Order;
import io.penstock.telemetry.LoaderReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Tells the cache of a dataset's remote files, from its own thread, what the loader will read. It fetches the missing
 * blocks of the next batches in the order of their first use, and announces when all batches up to the end of the next
 * epoch read which blocks, so that the cache drops what is read last.
 *
 * <p>How far ahead it fetches follows from the time of a fetch and the rate of batches: a block is requested four times
 * that time before it is needed, since some fetches take longer.
 */
final class PlanAhead implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(PlanAhead.class.getName());

    /** Positions of an epoch that are sampled to find the files, then for each block, then at most. */
    private static final int FEW_POSITIONS = 1 << 16;
    private static final int POSITIONS_PER_BLOCK = 32;
    private static final int MOST_POSITIONS = 1 << 22;
    private static final int FILL = 1024;
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

    private final ReadPlan plan;
    private final int workers;
    private final LongSupplier nanoTime;
    private final SampleRanges near;
    private final SampleRanges far;
    private final BatchPlan batch;
    private final Thread thread;
    private volatile @Nullable PlannedRun begun;
    private volatile boolean closed;

    private final ReadPlan.Fetched before;
    private final long epochSamples;

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

    private PlanAhead(Dataset dataset, ReadPlan plan, BatchSampler batches, int workers, String name,
            LongSupplier nanoTime) {
        this.plan = plan;
        this.before = plan.fetched();
        this.epochSamples = Math.ceilDiv(batches.sampler().size(), (long) batches.shard().worldSize());
        this.workers = workers;
        this.nanoTime = nanoTime;
        this.batch = new BatchPlan(batches.batchSize());
        this.near = new SampleRanges(dataset, this::fetch);
        this.far = new SampleRanges(dataset, (file, offset, bytes) -> add(plan, file, offset, bytes, farBatch));
        this.thread = Thread.ofPlatform().daemon().name(name + "-plan").unstarted(this::work);
    }

    /**
     * Makes a plan if the dataset has remote files; throws {@link IllegalArgumentException} if the cache is too small
     * for the order.
     */
    static Optional<PlanAhead> open(Dataset dataset, BatchSampler batches, int workers, String name,
            LongSupplier nanoTime) {
        Order order = batches.order(batches.startState().epoch());
        try {
            Optional<ReadPlan> found = plan(dataset, order);
            if (found.isEmpty()) {
                return Optional.empty();
            }
            ReadPlan plan = found.get();
            try {
                var ahead = new PlanAhead(dataset, plan, batches, workers, name, nanoTime);
                ahead.fits = check(dataset, order, plan);
                plan.clear();
                ThreadStart.start(ahead.thread, "reading remote files ahead");
                return Optional.of(ahead);
            } catch (Throwable t) {
                plan.close();
                throw t;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a plan for the cache of the dataset's first remote file; empty if no file is remote. */
    private static Optional<ReadPlan> plan(Dataset dataset, Order order) throws IOException {
        List<RangeFetcher> found = new ArrayList<>();
        new SampleRanges(dataset, (file, _, _) -> Stream.ofNullable(file.fetcher()).forEach(found::add))
                .locate(new long[] {order.at(0)}, 1);
        return found.isEmpty() ? Optional.empty() : found.getFirst().plan();
    }

    /** Returns whether the files fit in the cache. Fails if they do not, and the cache is too small for the order. */
    private static boolean check(Dataset dataset, Order order, ReadPlan plan) {
        sample(dataset, order, plan, FEW_POSITIONS);
        if (plan.fits()) {
            return true;
        }
        plan.clear();
        long wanted = Math.clamp(POSITIONS_PER_BLOCK * plan.blocks(), FEW_POSITIONS, MOST_POSITIONS);
        plan.check((double) order.size() / sample(dataset, order, plan, wanted));
        return false;
    }

    /** Adds the reads of evenly spaced positions; returns how many these are. */
    private static long sample(Dataset dataset, Order order, ReadPlan plan, long wanted) {
        long stride = Math.ceilDiv(order.size(), wanted);
        long count = Math.ceilDiv(order.size(), stride);
        long[] samples = new long[FILL];
        long[] one = new long[1];
        long[] step = new long[1];
        var ranges = new SampleRanges(dataset, (file, offset, bytes) -> add(plan, file, offset, bytes, step[0]));
        for (long from = 0; from < count; from += FILL) {
            int some = (int) Math.min(FILL, count - from);
            order.fill(from * stride, stride, some, samples);
            for (int i = 0; i < some; i++) {
                step[0] = from + i;
                one[0] = samples[i];
                ranges.locate(one, 1);
            }
        }
        return count;
    }

    private static void add(ReadPlan plan, MappedFile file, long offset, long bytes, long step) {
        RangeFetcher fetcher = file.fetcher();
        if (fetcher != null) {
            plan.add(fetcher, offset, bytes, step);
        }
    }

    private void fetch(MappedFile file, long offset, long bytes) {
        RangeFetcher fetcher = file.fetcher();
        if (fetcher != null && !mustWait) {
            try {
                mustWait = !plan.fetchAhead(fetcher, offset, bytes, nearBatch);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    void begin(PlannedRun run) {
        begun = run;
        LockSupport.unpark(thread);
    }

    private void work() {
        PlannedRun run = null;
        while (!closed) {
            PlannedRun latest = begun;
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
        measuredAt = nanoTime.getAsLong();
        isComplete = false;
    }

    private void step(PlannedRun run) {
        if (fits && nanoTime.getAsLong() - lookedAt > REST_NANOS) {
            lookedAt = nanoTime.getAsLong();
            isComplete = plan.isComplete();
        }
        if (isComplete) {
            LockSupport.parkNanos(this, REST_NANOS);
            return;
        }
        long claimed = Math.min(run.nextToClaim() - run.base, MOST_BATCHES);
        plan.reached(Math.max(0, claimed - workers));
        measure(claimed);
        fetchNear(run, claimed);
        if (fits || !planFar(run, claimed)) {
            LockSupport.parkNanos(this, PAUSE_NANOS);
        }
    }

    private void measure(long claimed) {
        long now = nanoTime.getAsLong();
        if (claimed > measuredBatch) {
            long each = (now - measuredAt) / (claimed - measuredBatch);
            batchNanos = batchNanos == 0 ? each : batchNanos + (each - batchNanos) / 4;
            measuredBatch = claimed;
            measuredAt = now;
        }
        long latency = plan.latencyNanos();
        lead = latency == 0 ? FIRST_LEAD
                : Math.clamp(MARGIN * latency / Math.max(1, batchNanos), workers + 1, MOST_LEAD);
    }

    /** Starts fetching the missing blocks of the next batches. */
    private void fetchNear(PlannedRun run, long claimed) {
        nearBatch = Math.max(nearBatch, claimed);
        mustWait = false;
        while (!closed && !mustWait && nearBatch <= claimed + lead && run.has(nearBatch)) {
            run.batches.plan(nearBatch, batch);
            near.locate(batch.samples(), batch.count());
            nearBatch += mustWait ? 0 : 1;
        }
    }

    /** Announces some more batches, up to the end of the next epoch; returns whether there were any. */
    private boolean planFar(PlannedRun run, long claimed) {
        long end = run.epochOf(Math.max(0, claimed - workers)) + 1;
        for (int i = 0; i < FAR_BATCHES; i++, farBatch++) {
            if (closed || farBatch >= MOST_BATCHES || !run.has(farBatch) || run.epochOf(farBatch) > end) {
                return i > 0;
            }
            if (run.isFirst(run.base + farBatch)) {
                plan.epoch(farBatch);
            }
            run.batches.plan(farBatch, batch);
            far.locate(batch.samples(), batch.count());
        }
        return true;
    }

    /** Adds to a report what was fetched since this was opened. */
    LoaderReport addTo(LoaderReport report) {
        ReadPlan.Fetched now = plan.fetched();
        return report.withFetched(now.bytes() - before.bytes(), now.blocks() - before.blocks(),
                now.requests() - before.requests(), epochSamples);
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
