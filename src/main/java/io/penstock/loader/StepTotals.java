// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.collate.Collator;
import io.penstock.dataset.source.BatchReader;
import io.penstock.loader.slots.HostSlot;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Two fields behind those of the collator: the samples and the tokens of all ranks in a step, which are known from the
 * plan. A thread has its own.
 */
final class StepTotals {

    /** The fields of a batch, of {@code i64[1]}. */
    static final TensorSpec SAMPLES = new TensorSpec("global_samples", DType.I64, 1);
    static final TensorSpec TOKENS = new TensorSpec("global_tokens", DType.I64, 1);

    private final LongUnaryOperator tokens;
    private final int batchesOfStep;
    private final SlabLayout collated;
    private final long[] starts;
    /** What the collator writes to, in the memory of a slot. */
    private final Map<HostSlot, Slab> slabs = new IdentityHashMap<>();
    private @Nullable BatchSampler planned;
    private List<BatchSampler> ranks = List.of();
    private BatchPlan plan = new BatchPlan(1);
    /** The first batch of the step that was counted last; -1 if there is none. */
    private long counted = -1;
    private long samples;
    private long sum;

    /** Counts by the tokens of each sample, behind what has a layout. */
    StepTotals(LongUnaryOperator tokens, int batches, SlabLayout all) {
        this.tokens = tokens;
        this.batchesOfStep = batches;
        int fields = all.fields().size() - 2;
        this.collated = new SlabLayout(all.fields().subList(0, fields), all.maxBytes().subList(0, fields));
        this.starts = new long[fields + 2];
    }

    /** The layout of a collator, with both fields behind it. */
    static SlabLayout layout(SlabLayout collated) {
        List<TensorSpec> fields = new ArrayList<>(collated.fields());
        List<Long> bytes = new ArrayList<>(collated.maxBytes());
        for (TensorSpec field : List.of(SAMPLES, TOKENS)) {
            fields.add(field);
            bytes.add((long) Long.BYTES);
        }
        return new SlabLayout(fields, bytes);
    }

    /** Collates the batch of a slot, and writes the totals of its step. */
    void collate(Collator collator, BatchReader reader, HostSlot slot, BatchSampler batches, long number) {
        Slab inner = slabs.get(slot);
        if (inner == null) {
            inner = new Slab(collated, slot.slab.segment());
            slabs.put(slot, inner);
        }
        collator.collate(reader, slot.plan, inner);
        Slab out = slot.slab;
        int fields = collated.fields().size();
        for (int f = 0; f < fields; f++) {
            starts[f] = inner.offset(f);
            for (int d = 0; d < collated.fields().get(f).rank(); d++) {
                out.setDim(f, d, inner.dim(f, d));
            }
        }
        starts[fields] = SlabLayout.align(inner.usedBytes());
        starts[fields + 1] = starts[fields] + SlabLayout.ALIGNMENT_BYTES;
        out.layOut(starts);
        count(batches, number);
        out.segment().set(LittleEndian.I64, starts[fields], samples);
        out.segment().set(LittleEndian.I64, starts[fields + 1], sum);
    }

    private void count(BatchSampler batches, long number) {
        long first = number - number % batchesOfStep;
        if (planned == batches && counted == first) {
            return;
        }
        if (planned != batches) {
            ranks = IntStream.range(0, batches.shard().worldSize()).mapToObj(batches::ofRank).toList();
            plan = new BatchPlan(batches.batchSize());
            planned = batches;
        }
        counted = -1;
        samples = 0;
        sum = 0;
        long end = batches.endEpoch();                  // an edit may end the run within a step
        for (long batch = first; batch < first + batchesOfStep && batches.epochOf(batch, end) < end; batch++) {
            for (int rank = 0; rank < ranks.size(); rank++) {
                ranks.get(rank).plan(batch, plan);
                samples += plan.valid();
                for (int row = 0; row < plan.valid(); row++) {
                    sum += tokens.applyAsLong(plan.sample(row));
                }
            }
        }
        counted = first;
    }
}
