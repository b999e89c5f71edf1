// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import io.penstock.loader.Batch;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Makes the tensors of one field, batch by batch. Of one thread at a time. */
final class TensorMaker {

    private final String name;
    private final DType dtype;
    private final boolean isOnHost;
    private final int gpu;
    private final MemorySegment result = MemorySegment.ofArray(new long[1]);
    /** The shape of the latest batch, with its strides. */
    private final long[] dims;
    private final long[] rowMajor;
    private final MemorySegment sizes;
    private final MemorySegment strides;

    /**
     * @param isOnHost whether the CPU can read batches
     * @param gpu the GPU that torch takes tensors for, or -1 for the host
     */
    TensorMaker(TensorSpec field, boolean isOnHost, int gpu) {
        this.name = field.name();
        this.dtype = field.dtype();
        this.isOnHost = isOnHost;
        this.gpu = gpu;
        this.dims = new long[field.rank()];
        this.rowMajor = new long[field.rank()];
        this.sizes = MemorySegment.ofArray(dims);
        this.strides = MemorySegment.ofArray(rowMajor);
        Arrays.fill(dims, -1);
    }

    String name() {
        return name;
    }

    DType dtype() {
        return dtype;
    }

    void lend(SlotTensor tensor, Batch batch) {
        if (!isOnHost) {
            TensorSpec field = batch.fields().stream().filter(each -> each.name().equals(name)).findFirst()
                    .orElseThrow();
            for (int d = 0; d < dims.length; d++) {
                dims[d] = field.dim(d);
            }
        } else {
            io.penstock.memory.Tensor found = batch.tensor(name);
            for (int d = 0; d < dims.length; d++) {
                dims[d] = found.dim(d);
            }
        }
        long elements = 1;
        for (int d = dims.length - 1; d >= 0; d--) {
            rowMajor[d] = elements;
            elements *= Math.max(dims[d], 1);
        }
        tensor.lend(batch.address(name), sizes, strides, dtype, gpu, result);
    }
}
