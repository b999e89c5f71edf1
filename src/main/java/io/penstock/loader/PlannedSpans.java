// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.reading.SampleRanges;
import io.penstock.io.FetchAhead;
import io.penstock.io.MappedFile;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Order;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The spans of files that batches will read, for all that is read ahead: {@link BatchesAhead} brings them into the page
 * cache, and {@link FetchAhead} into the cache of remote files. One thread at a time; allocates nothing once warm.
 */
final class PlannedSpans {

    private static final int FILL = 1024;

    private final SampleRanges ranges;
    private final BatchPlan plan;
    private FetchAhead.Taker taker = (_, _, _, _) -> { };
    private long step;

    PlannedSpans(Dataset dataset, int batchSize) {
        this.ranges = new SampleRanges(dataset, (file, offset, bytes) -> taker.take(file, offset, bytes, step));
        this.plan = new BatchPlan(batchSize);
    }

    /** Gives the spans of a batch, field by field. */
    void locate(BatchSampler batches, long number, FetchAhead.Taker to) {
        batches.plan(number, plan);
        locate(plan.samples(), plan.count(), number, to);
    }

    /** Returns how many samples the latest batch has. */
    int count() {
        return plan.count();
    }

    private void locate(long[] samples, int count, long at, FetchAhead.Taker to) {
        taker = to;
        step = at;
        ranges.locate(samples, count);
    }

    /**
     * Opens what fetches the dataset's remote files ahead: the cache of the first of them that the order's first sample
     * reads. Empty if all are local.
     */
    static Optional<FetchAhead> fetchAhead(Dataset dataset, BatchSampler batches, int workers, String name,
            LongSupplier nanoTime) {
        var epoch = new StartEpoch(name, workers, nanoTime, batches.order(batches.startEpoch()),
                new PlannedSpans(dataset, 1));
        List<MappedFile> files = new ArrayList<>();
        epoch.sample(1, (file, _, _, _) -> files.add(file));
        Optional<FetchAhead> ahead = Optional.empty();
        try {
            for (int i = 0; i < files.size() && ahead.isEmpty(); i++) {
                ahead = files.get(i).fetcher().fetchAhead(epoch);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return ahead;
    }

    /** An epoch as a cache of remote files sees it. */
    private record StartEpoch(String name, int workers, LongSupplier nanoTime, Order order, PlannedSpans spans)
            implements FetchAhead.Epoch {

        @Override
        public long size() {
            return order.size();
        }

        @Override
        public long sample(long wanted, FetchAhead.Taker to) {
            long stride = Math.ceilDiv(order.size(), wanted);
            long count = Math.ceilDiv(order.size(), stride);
            long[] samples = new long[FILL];
            long[] one = new long[1];
            for (long from = 0; from < count; from += FILL) {
                int some = (int) Math.min(FILL, count - from);
                order.fill(from * stride, stride, some, samples);
                for (int i = 0; i < some; i++) {
                    one[0] = samples[i];
                    spans.locate(one, 1, from + i, to);
                }
            }
            return count;
        }
    }

    /** A run as a cache of remote files sees it. */
    record FetchedRun(PlannedRun run, PlannedSpans spans) implements FetchAhead.Run {

        @Override
        public long claimed() {
            return run.nextToClaim() - run.base;
        }

        @Override
        public boolean has(long number) {
            return run.has(number);
        }

        @Override
        public long epochOf(long number) {
            return run.epochOf(number);
        }

        @Override
        public void locate(long number, FetchAhead.Taker to) {
            spans.locate(run.batches, number, to);
        }
    }
}
