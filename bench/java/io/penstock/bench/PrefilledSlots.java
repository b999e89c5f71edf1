// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.collate.Collator;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.BatchReader;
import io.penstock.dataset.source.FieldSource;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Batches of any size that cost nothing to make: a slot is written on the first lap of the ring, and sent again as it
 * is on every later one. What is left of the loader is the transfer.
 *
 * @param bytes what a batch has
 */
public record PrefilledSlots(long bytes) implements Dataset, Collator {
    private static final long SAMPLES = 1L << 40;
    private static final long MARK = 0x70656E73746F636BL;

    /** Bytes that do not compress, begun with a mark. */
    static void fill(MemorySegment memory) {
        long words = memory.byteSize() / Long.BYTES;
        for (long i = 0; i < words; i++) {
            memory.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, i == 0 ? MARK : i * 0x9E3779B97F4A7C15L);
        }
    }

    @Override
    public SlabLayout layout(Dataset dataset, int batchSize) {
        return SlabLayout.of(new TensorSpec("bytes", DType.U8, batchSize, bytes));
    }

    @Override
    public void collate(BatchReader in, BatchPlan plan, Slab out) {
        if (out.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0) != MARK) {
            fill(out.segment());
        }
    }

    @Override
    public long size() {
        return SAMPLES;
    }

    @Override
    public List<TensorSpec> fields() {
        return List.of(new TensorSpec("bytes", DType.U8, bytes));
    }

    @Override
    public FieldSource source(int field) {
        return FieldSource.stored((_, _) -> {
            throw new UnsupportedOperationException("these samples have no bytes to read");
        });
    }

    @Override
    public String fingerprint() {
        return "prefilled:" + bytes;
    }
}
