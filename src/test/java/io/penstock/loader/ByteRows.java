// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.FieldSource;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Rows of bytes that follow from the row's number alone. */
record ByteRows(long size, int width, MemorySegment bytes) implements Dataset {

    ByteRows(long size, int width) {
        this(size, width, Arena.ofAuto().allocate(size * width));
        for (long row = 0; row < size; row++) {
            for (int i = 0; i < width; i++) {
                bytes.set(ValueLayout.JAVA_BYTE, row * width + i, at(row, i));
            }
        }
    }

    static byte at(long row, int i) {
        return (byte) ((row * 1_000_003 + i + 1) * 0x9E3779B97F4A7C15L >>> 56);
    }

    @Override
    public List<TensorSpec> fields() {
        return List.of(new TensorSpec("row", DType.U8, width));
    }

    @Override
    public FieldSource source(int field) {
        return FieldSource.stored((sample, into) -> into.set(bytes, sample * width, width));
    }

    @Override
    public String fingerprint() {
        return "rows:" + size + "x" + width;
    }
}
