// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.collate.Collator;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.io.ReadMode;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A collator alone on the caller's thread: plans of an epoch in random order that are drawn beforehand, and slabs in
 * rotation. A C loop reads the same order from native memory and writes to the same slabs.
 */
final class CollationRing implements AutoCloseable {

    /** A C loop over batches: their order, and the buffers that it writes in rotation. */
    @FunctionalInterface
    interface Loop {
        void run(long order, long batches, long ring, long ringBuffers);
    }

    private final Arena arena = Arena.ofShared();
    private final Collator collator;
    private final SampleReader reader;
    private final int batchSize;
    private final BatchPlan[] plans;
    private final Slab[] slabs;
    private final long slabBytes;
    private final MemorySegment memory;
    private final MemorySegment order;
    private int next;
    private int slab;

    /**
     * Draws the plans.
     *
     * @param orderStride what a sample's number is multiplied with in the order that C reads
     */
    CollationRing(Dataset dataset, Collator collator, int batchSize, int ring, long orderStride) {
        this.collator = collator;
        this.reader = new SampleReader(dataset, ReadMode.MMAP);
        this.batchSize = batchSize;
        SlabLayout layout = collator.layout(dataset, batchSize);
        slabBytes = Math.ceilDiv(layout.capacityBytes(), SlabLayout.ALIGNMENT_BYTES) * SlabLayout.ALIGNMENT_BYTES;
        memory = arena.allocate(ring * slabBytes, 4096);
        memory.fill((byte) 0);
        slabs = new Slab[ring];
        for (int i = 0; i < ring; i++) {
            slabs[i] = new Slab(layout, memory.asSlice(i * slabBytes, layout.capacityBytes()));
        }
        BatchSampler sampler = BatchSampler.of(Sampler.shuffled(dataset.size(), 1), batchSize,
                new Shard(0, 1, TailPolicy.PAD)).droppingLast();
        plans = new BatchPlan[Math.toIntExact(sampler.batchesInEpoch(0))];
        order = arena.allocate(ValueLayout.JAVA_LONG, (long) plans.length * batchSize);
        for (int b = 0; b < plans.length; b++) {
            plans[b] = new BatchPlan(batchSize);
            sampler.plan(b, plans[b]);
            for (int i = 0; i < batchSize; i++) {
                order.setAtIndex(ValueLayout.JAVA_LONG, (long) b * batchSize + i, plans[b].sample(i) * orderStride);
            }
        }
    }

    /** The distance of the slabs. */
    long slabBytes() {
        return slabBytes;
    }

    /** Where the slabs are. */
    long address() {
        return memory.address();
    }

    /** The slab that was written last, of a loop that began with the first. */
    Slab lastSlab() {
        return slabs[slab == 0 ? slabs.length - 1 : slab - 1];
    }

    /** Collates the next batches. */
    void collate(int batches) {
        for (int first = take(batches), i = 0; i < batches; i++) {
            collator.collate(reader, plans[first + i], slabs[slab]);
            slab = slab + 1 == slabs.length ? 0 : slab + 1;
        }
    }

    /** Where the order of the next batches is, for a C loop in place of {@link #collate}. */
    long nextOrder(int batches) {
        return order.address() + (long) take(batches) * batchSize * Long.BYTES;
    }

    /** Goes back to the first batch. */
    void restart() {
        next = 0;
    }

    private int take(int batches) {
        int first = next + batches > plans.length ? 0 : next;
        next = first + batches;
        return first;
    }

    /**
     * Compares what both make of the first batches, field by field.
     *
     * @param bufferBytes the distance of the buffers that the loop writes
     * @throws IllegalStateException if a byte differs; says where
     */
    void check(Loop loop, long bufferBytes) {
        int batches = Math.min(slabs.length, plans.length);
        for (int b = 0; b < batches; b++) {
            collator.collate(reader, plans[b], slabs[b]);
        }
        try (Arena own = Arena.ofConfined()) {
            MemorySegment other = own.allocate(batches * bufferBytes, 4096);
            other.fill((byte) 0xAA);
            loop.run(order.address(), batches, other.address(), batches);
            for (int b = 0; b < batches; b++) {
                Slab slab = slabs[b];
                for (int f = 0; f < slab.layout().fields().size(); f++) {
                    long differs = slab.segment().asSlice(slab.offset(f), slab.byteSize(f)).mismatch(
                            other.asSlice(b * bufferBytes + slab.offset(f), slab.byteSize(f)));
                    if (differs >= 0) {
                        throw new IllegalStateException("batch " + b + ", " + slab.layout().fields().get(f)
                                + ": the C loop differs at byte " + differs);
                    }
                }
            }
        }
    }

    @Override
    public void close() {
        reader.close();
        arena.close();
    }
}
