// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import io.penstock.io.Span;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TensorStore;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;

/** Tensors of seeded random bytes in native memory. */
public final class MemoryTensorStore implements TensorStore {

    private final Arena arena = Arena.ofShared();
    private final List<TensorSpec> specs;
    private final List<MemorySegment> data = new ArrayList<>();

    /** Tensors of the given names, dtypes and shapes. */
    public MemoryTensorStore(long seed, TensorSpec... specs) {
        this.specs = List.of(specs);
        var random = new SplittableRandom(seed);
        for (TensorSpec spec : specs) {
            MemorySegment bytes = arena.allocate(Math.max(1, spec.byteSize())).asSlice(0, spec.byteSize());
            for (long i = 0; i < bytes.byteSize(); i++) {
                bytes.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
            }
            data.add(bytes);
        }
    }

    @Override
    public List<TensorSpec> tensors() {
        return specs;
    }

    @Override
    public Tensor tensor(int index) {
        return Tensor.of(data.get(index), specs.get(index).dtype(), specs.get(index).shape());
    }

    @Override
    public void locate(int index, long firstRow, long rows, Span into) {
        Objects.checkFromIndexSize(firstRow, rows, specs.get(index).dim(0));
        long rowBytes = specs.get(index).rowBytes();
        into.set(data.get(index), firstRow * rowBytes, rows * rowBytes);
    }

    @Override
    public boolean isConverted(int index) {
        return true;
    }

    @Override
    public String fingerprint() {
        return "memory:" + specs;
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
