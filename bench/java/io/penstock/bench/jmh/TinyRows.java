// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.FieldSource;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Samples that cost next to nothing to read: 8 bytes each of memory that stays in L1. What remains of the loader is its
 * own.
 */
record TinyRows(MemorySegment bytes) implements Dataset {

    private static final int ROW_BYTES = 8;
    private static final long DISTINCT = 128;

    TinyRows() {
        this(Arena.ofAuto().allocate(DISTINCT * ROW_BYTES));
    }

    @Override
    public long size() {
        return 1L << 40;
    }

    @Override
    public List<TensorSpec> fields() {
        return List.of(new TensorSpec("row", DType.U8, ROW_BYTES));
    }

    @Override
    public FieldSource source(int field) {
        return FieldSource.stored((sample, into) -> into.set(bytes, sample % DISTINCT * ROW_BYTES, ROW_BYTES));
    }

    @Override
    public String fingerprint() {
        return "tiny-rows";
    }
}
