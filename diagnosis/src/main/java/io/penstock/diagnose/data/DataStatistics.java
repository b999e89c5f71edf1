// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import io.penstock.collate.Collator.BatchMap;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Samples batches as workers make them and keeps statistics of the data, epoch by epoch. It follows the collator, where
 * every batch is in host memory, whatever its device:
 *
 * {@snippet :
 * var statistics = DataStatistics.builder().baseline(DataProfile.read(file)).build();
 * try (DataLoader loader = DataLoader.builder(dataset).collator(Stack.fields().then(statistics)).batchSize(32)
 *         .open()) {
 *     // … train …
 *     statistics.findings().forEach(System.out::println);
 * }
 * }
 *
 * <p><b>Which batches.</b> One in every 64 by default: the first of an epoch, and from each 64 after it the one that
 * epoch and position determine. It reads up to 4096 values of each field, spread evenly over the rows with weight. So
 * the sample depends only on the plan, not on workers; prefetched batches that are never taken count too. On average
 * that is 64 values per batch, about a tenth of a microsecond; {@link #cost} reports the actual cost.
 *
 * <p><b>Findings.</b> Each completed epoch is compared with the baseline, or without one with the first epoch. That
 * takes at least {@value DataDrift#LEAST_REPLICATES} sampled batches: for short epochs, sample every batch. If the
 * order is not shuffled, an epoch that a run covers only in part is not compared: it contains other data.
 *
 * <p>Memory is bounded: a field of ids takes about a MiB, others less. From the second epoch on, it allocates only for
 * findings and while comparing an epoch. An internal error stops the statistics but not the training; it is logged, and
 * {@link #findings} throws it. Thread-safe.
 */
public final class DataStatistics implements BatchMap {

    private static final System.Logger LOG = System.getLogger(DataStatistics.class.getName());

    private final int every;
    private final int maxValues;
    private final DriftLimits limits;
    private final Map<String, FieldKind> kinds;
    private final Consumer<DataFinding> onFinding;
    private final List<DataFinding> found = new ArrayList<>();
    private volatile @Nullable RuntimeException failure;

    /** Null before the first batch. */
    private @Nullable SlabLayout layout;
    @SuppressWarnings("NullAway.Init")
    private FieldReader[] readers;
    private @Nullable DataProfile reference;
    private boolean referenceIsGiven;
    /** Earlier epochs, merged. */
    @SuppressWarnings("NullAway.Init")
    private DataProfile past;
    /** The last two epochs: some workers may still finish one while others start the next. */
    @SuppressWarnings("NullAway.Init")
    private Epoch older;
    @SuppressWarnings("NullAway.Init")
    private Epoch newer;
    private long batches;
    private long values;
    private long costNanos;

    private static final class Epoch {
        private final DataProfile profile;
        private long number = -1;
        private boolean compared;

        Epoch(DataProfile profile) {
            this.profile = profile;
        }

        void begin(long epoch) {
            profile.clear();
            number = epoch;
            compared = false;
        }
    }

    /**
     * The cost of the statistics so far.
     *
     * @param batches sampled batches
     * @param values values read in them
     * @param nanos worker time, including waits for each other
     */
    public record Effort(long batches, long values, long nanos) {
    }

    DataStatistics(DataStatisticsBuilder settings) {
        this.every = settings.every;
        this.maxValues = settings.maxValues;
        this.limits = settings.limits;
        this.kinds = Map.copyOf(settings.kinds);
        this.onFinding = settings.onFinding;
        this.reference = settings.baseline;
        this.referenceIsGiven = settings.baseline != null;
    }

    /** {@return a builder with all settings at their defaults} */
    public static DataStatisticsBuilder builder() {
        return new DataStatisticsBuilder();
    }

    /** Reads the batch if it belongs to the sample; changes nothing. */
    @Override
    public void apply(BatchPlan plan, Slab batch) {
        if (failure == null && isWatched(plan.epoch(), plan.indexInEpoch())) {
            look(plan, batch);
        }
    }

    boolean isWatched(long epoch, long index) {
        long block = index / every;
        return index % every
                == (block == 0 ? 0 : Long.remainderUnsigned(Buckets.mix(Buckets.mix(epoch) + block), every));
    }

    private void look(BatchPlan plan, Slab batch) {
        long begin = System.nanoTime();
        try {
            List<DataFinding> fresh = look(plan, batch, begin);
            if (!fresh.isEmpty()) {
                tell(fresh);
            }
        } catch (RuntimeException e) {
            failure = e;
            LOG.log(System.Logger.Level.ERROR, "data statistics stopped: " + e.getMessage(),
                    e instanceof DataShapeException ? null : e);
        }
    }

    private synchronized List<DataFinding> look(BatchPlan plan, Slab batch, long begin) {
        if (layout == null) {
            begin(batch.layout());
        } else if (layout != batch.layout() && !layout.equals(batch.layout())) {
            throw new DataShapeException("batch from another loader: found " + batch.layout().fields()
                    + ", expected " + layout.fields());
        }
        record(plan, batch, epoch(plan.epoch()).profile);
        List<DataFinding> fresh = newer.profile.batches() > 1 ? compareOlder() : List.of();
        costNanos += System.nanoTime() - begin;
        return fresh;
    }

    private void begin(SlabLayout ofBatches) {
        List<TensorSpec> fields = ofBatches.fields();
        for (String name : kinds.keySet()) {
            ofBatches.indexOf(name);
        }
        readers = new FieldReader[fields.size()];
        List<FieldProfile> empty = new ArrayList<>();
        for (int f = 0; f < readers.length; f++) {
            TensorSpec field = fields.get(f);
            readers[f] = new FieldReader(ofBatches, f, kinds.getOrDefault(field.name(), FieldKind.of(field)));
            empty.add(readers[f].profile(ofBatches));
        }
        past = new DataProfile(empty);
        if (referenceIsGiven && reference != null) {
            reference.checkSameShape(past);
        }
        older = new Epoch(past.empty());
        newer = new Epoch(past.empty());
        layout = ofBatches;
    }

    private Epoch epoch(long number) {
        if (number == newer.number) {
            return newer;
        }
        if (number == older.number) {
            return older;
        }
        compareOlder();
        past.add(older.profile);
        Epoch next = older;
        older = newer;
        newer = next;
        newer.begin(number);
        return newer;
    }

    private void record(BatchPlan plan, Slab batch, DataProfile into) {
        int replicate = (int) (plan.indexInEpoch() / every % DataProfile.REPLICATES);
        batches++;
        into.batches[replicate]++;
        into.samples[replicate] += plan.count();
        into.replaced[replicate] += plan.replaced();
        for (int f = 0; f < readers.length; f++) {
            values += readers[f].read(plan, batch, maxValues, replicate, into.fields().get(f));
        }
    }

    /** Compares the epoch that has ended, once; returns the new findings. */
    private List<DataFinding> compareOlder() {
        if (older == null || older.number < 0 || older.compared) {
            return List.of();
        }
        older.compared = true;
        if (reference == null) {
            reference = older.profile.copy();
            return List.of();
        }
        List<DataFinding> fresh = new ArrayList<>();
        for (DataFinding finding : DataDrift.compareShared(reference, older.profile, limits, older.number)) {
            int known = IntStream.range(0, found.size()).filter(i -> found.get(i).isAbout(finding)).findFirst()
                    .orElse(-1);
            if (known >= 0) {
                found.set(known, finding.since(found.get(known).epoch()));
            } else {
                found.add(finding);
                fresh.add(finding);
            }
        }
        return fresh;
    }

    private void tell(List<DataFinding> fresh) {
        for (DataFinding finding : fresh) {
            LOG.log(System.Logger.Level.WARNING, "the data changed: {0}", finding);
            try {
                onFinding.accept(finding);
            } catch (RuntimeException e) {
                LOG.log(System.Logger.Level.ERROR, "the callback on changed data failed: " + e.getMessage(), e);
            }
        }
    }

    /**
     * {@return the changes in completed epochs, each once, with the first epoch in which it appeared and the latest
     * figures; thread-safe}
     *
     * @throws IllegalStateException if the statistics stopped, after an error or a baseline with other fields
     */
    public List<DataFinding> findings() {
        checkWatching();
        List<DataFinding> fresh;
        List<DataFinding> all;
        synchronized (this) {
            fresh = compareOlder();
            all = List.copyOf(found);
        }
        tell(fresh);
        return all;
    }

    /** {@return the size of {@link #findings} without a new comparison of an epoch that has only just ended} */
    public synchronized int changes() {
        return found.size();
    }

    /**
     * Compares the current epoch so far with the reference, for the end of a run. Not included in {@link #findings}.
     *
     * @return the findings; empty if nothing changed or there is too little data
     * @throws IllegalStateException if the statistics stopped
     */
    public synchronized List<DataFinding> findingsSoFar() {
        checkWatching();
        DataProfile with = reference != null ? reference : older == null ? null : older.profile;
        return with == null || newer == null || newer.number < 0 ? List.of()
                : DataDrift.compareShared(with, newer.profile, limits, newer.number);
    }

    private void checkWatching() {
        if (failure != null) {
            throw new IllegalStateException("data statistics stopped: " + failure.getMessage(), failure);
        }
    }

    /**
     * {@return a snapshot of the statistics of all epochs so far, to save as a baseline or to merge with those of other
     * ranks; empty if no batch was sampled yet}
     */
    public synchronized Optional<DataProfile> profile() {
        if (layout == null) {
            return Optional.empty();
        }
        DataProfile all = past.copy();
        all.add(older.profile);
        all.add(newer.profile);
        return Optional.of(all);
    }

    /** {@return the cost of the statistics so far} */
    public synchronized Effort cost() {
        return new Effort(batches, values, costNanos);
    }
}
