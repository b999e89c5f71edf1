// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.reading.SampleReader;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.loader.BadSamplePolicy.BadSample;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.KeyedRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongPredicate;

/**
 * Finds substitutes for samples that cannot be read, as a pure function of seed, epoch, the bad sample and its
 * position: so every worker, rank and resumed run finds the same one. Remembers bad samples; thread-safe.
 *
 * <p>Once a batch has met a bad sample that was not known, all its samples are checked, so that many bad ones cost one
 * extra pass, not one each. Of a batch whose bad samples are known from earlier epochs, only these are checked.
 */
final class BadSamples {

    /** Keeps the draws apart from those of augmentations. */
    static final long STEP = KeyedRandom.step("penstock.substitute");
    /** After this many bad samples in a row the loader fails: the dataset is not usable. */
    static final int MAX_DRAWS = 64;

    private static final int MAX_KEPT = 10_000;
    private static final System.Logger LOG = System.getLogger(BadSamples.class.getName());

    private final BadSamplePolicy policy;
    private final long seed;
    private final long size;
    /** Whether substitutes come from the batch itself, because no other samples are at hand. */
    private final boolean isFromBatch;
    /** Whether a skipped sample leaves no row: batches without padding need none. */
    private final boolean hasNoRow;
    private final ConcurrentHashMap<Long, String> met = new ConcurrentHashMap<>();
    /** The samples of {@link #met}, ascending: to look for one makes no object. */
    private volatile long[] known = {};

    BadSamples(BadSamplePolicy policy, long seed, long size, boolean isFromBatch, boolean isWithoutPadding) {
        this.policy = policy;
        this.seed = seed;
        this.size = size;
        this.isFromBatch = isFromBatch;
        this.hasNoRow = isWithoutPadding && policy == BadSamplePolicy.SKIP;
    }

    /** Whether a plan may be repaired; otherwise the batch fails. */
    boolean areReplaced() {
        return policy != BadSamplePolicy.FAIL;
    }

    /**
     * Replaces the samples that cannot be read by others, or removes them.
     *
     * @param refused samples that are bad though they can be read: the collator needs more
     */
    void repair(BatchPlan plan, SampleReader reader, Set<Long> refused) {
        repair(plan, reader, refused, _ -> true);
    }

    /** Whether a plan has a sample that was bad before. */
    boolean hasKnown(BatchPlan plan) {
        long[] bad = known;
        for (int row = 0; bad.length > 0 && row < plan.count(); row++) {
            if (Arrays.binarySearch(bad, plan.sample(row)) >= 0) {
                return true;
            }
        }
        return false;
    }

    /** Does what {@link #repair} does, if no other samples of the plan are bad than those that were bad before. */
    void repairKnown(BatchPlan plan, SampleReader reader) {
        long[] bad = known;
        repair(plan, reader, Set.of(), sample -> Arrays.binarySearch(bad, sample) >= 0);
    }

    private void repair(BatchPlan plan, SampleReader reader, Set<Long> refused, LongPredicate maybeBad) {
        if (hasNoRow) {
            remove(plan, reader, refused, maybeBad);
            return;
        }
        for (int row = 0; row < plan.count(); row++) {
            long sample = plan.sample(row);
            long position = plan.position(row);
            if (!maybeBad.test(sample) || isGood(sample, position, reader, refused)) {
                continue;
            }
            long other = isFromBatch ? goodOneOf(plan, reader, refused)
                    : substitute(seed, plan.epoch(), position, size, sample,
                            draw -> isGood(draw, position, reader, refused));
            if (policy == BadSamplePolicy.SKIP) {
                boolean moved = row < plan.valid();
                plan.withdraw(row, other);
                row -= moved ? 1 : 0;                   // another sample is here now
            } else {
                plan.replace(row, other);
            }
        }
    }

    private void remove(BatchPlan plan, SampleReader reader, Set<Long> refused, LongPredicate maybeBad) {
        int count = plan.count();
        for (int row = count - 1; row >= 0; row--) {
            long sample = plan.sample(row);
            if (maybeBad.test(sample) && !isGood(sample, plan.position(row), reader, refused)) {
                plan.remove(row);
            }
        }
        if (plan.count() == 0) {
            throw allAreBad(count);
        }
    }

    private long goodOneOf(BatchPlan plan, SampleReader reader, Set<Long> refused) {
        for (int row = 0; row < plan.count(); row++) {
            if (isGood(plan.sample(row), plan.position(row), reader, refused)) {
                return plan.sample(row);
            }
        }
        throw allAreBad(plan.count());
    }

    private static IllegalStateException allAreBad(int count) {
        return new IllegalStateException("all " + count + " samples of a batch are bad");
    }

    /** Returns the substitute for the bad sample at a position of the epoch's order. */
    static long substitute(long seed, long epoch, long position, long size, long sample, LongPredicate isGood) {
        var random = new KeyedRandom(seed, epoch);
        random.select(position, STEP);
        for (int draw = 0; draw < MAX_DRAWS; draw++) {
            long other = random.nextLong(size);
            if (other != sample && isGood.test(other)) {
                return other;
            }
        }
        throw new IllegalStateException("found no substitute for bad sample " + sample + ": " + MAX_DRAWS
                + " drawn samples are bad too");
    }

    private boolean isGood(long sample, long position, SampleReader reader, Set<Long> refused) {
        if (refused.contains(sample)) {
            return false;
        }
        try {
            reader.check(sample, position);
            return true;
        } catch (BadSampleException bad) {
            report(sample, bad);
            return false;
        }
    }

    /** Remembers a bad sample, and logs it the first time. */
    void report(long sample, BadSampleException bad) {
        String reason = String.valueOf(bad.getMessage());
        if (met.size() < MAX_KEPT && met.putIfAbsent(sample, reason) == null) {
            know(sample);
            LOG.log(System.Logger.Level.WARNING, "bad sample {0} {1}: {2}", Long.toString(sample),
                    policy == BadSamplePolicy.SKIP ? "skipped" : "replaced", reason);
        }
    }

    private synchronized void know(long sample) {
        long[] more = Arrays.copyOf(known, known.length + 1);
        more[known.length] = sample;
        Arrays.sort(more);
        known = more;
    }

    /** Returns the bad samples that were met so far, by index. */
    List<BadSample> met() {
        List<BadSample> list = new ArrayList<>();
        met.forEach((sample, reason) -> list.add(new BadSample(sample, reason)));
        list.sort(Comparator.comparingLong(BadSample::sample));
        return list;
    }
}
