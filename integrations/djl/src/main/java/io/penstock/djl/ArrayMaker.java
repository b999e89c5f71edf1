// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDManager;
import io.penstock.loader.Batch;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Makes the NDArrays of one field, batch by batch. Of one thread at a time. */
final class ArrayMaker {

    private final String name;
    private final DType dtype;
    private final DataType type;
    private final Device device;
    private final boolean isAlias;
    private final boolean isTrimmed;
    private final MemorySegment result = MemorySegment.ofArray(new long[1]);
    /** The shape of the latest batch, in all forms that are needed of it. */
    private final long[] dims;
    private final long[] rowMajor;
    private final MemorySegment sizes;
    private final MemorySegment strides;
    private Shape shape;

    /**
     * @param field the field, with its greatest shape
     * @param type what the NDArrays have
     * @param device where the batches are
     */
    ArrayMaker(TensorSpec field, DataType type, Device device, boolean isCopied, boolean isTrimmed) {
        this.name = field.name();
        this.dtype = field.dtype();
        this.type = type;
        this.device = device;
        this.isAlias = !isCopied && ArrayTypes.isSame(dtype, type);
        this.isTrimmed = isTrimmed;
        this.dims = new long[field.rank()];
        this.rowMajor = new long[field.rank()];
        this.sizes = MemorySegment.ofArray(dims);
        this.strides = MemorySegment.ofArray(rowMajor);
        Arrays.fill(dims, -1);
        this.shape = new Shape();
    }

    /**
     * Makes the NDArray of a batch.
     *
     * @param rows of them so many, if only valid rows are wanted
     */
    NDArray make(Batch batch, int rows, PtNDManager manager) {
        long view = view(batch, rows);
        NDArray array;
        if (isAlias) {
            array = new SlotArray(manager, view, shape, type, device);
        } else {
            try {
                array = copy(view, manager);
            } finally {
                Torch.delete(view);
            }
        }
        array.setName(name);
        return array;
    }

    /** Gives an NDArray of the slot the values of its next batch. */
    void lend(SlotArray array, Batch batch, int rows) {
        array.lend(view(batch, rows), shape);
        array.setName(name);
    }

    /** A tensor over the field of a batch, of the {@link #shape} that it has there. */
    private long view(Batch batch, int rows) {
        long address;
        if (device.isGpu()) {
            address = batch.address(name);
            reshape(batch.fields().stream().filter(field -> field.name().equals(name)).findFirst().orElseThrow()
                    .shape(), batch.count(), rows);
        } else {
            Tensor tensor = batch.tensor(name);
            address = tensor.segment().address();
            reshape(tensor, batch.count(), rows);
        }
        return Torch.tensorOf(address, sizes, strides, dtype, device.isGpu() ? device.getDeviceId() : -1, result);
    }

    private NDArray copy(long view, PtNDManager manager) {
        var array = manager.create(shape, type);
        Torch.copy(array.getHandle(), view);
        return array;
    }

    private void reshape(Tensor tensor, int count, int rows) {
        boolean isSame = tensor.rank() == dims.length;
        for (int d = isTrimmed ? 1 : 0; isSame && d < dims.length; d++) {
            isSame = tensor.dim(d) == dims[d];
        }
        if (!isSame || isTrimmed && (dims.length == 0 || tensor.dim(0) != count || dims[0] != rows)) {
            reshape(tensor.shape(), count, rows);
        }
    }

    private void reshape(long[] found, int count, int rows) {
        if (isTrimmed) {
            if (found.length == 0 || found[0] != count) {
                throw new UnsupportedOperationException("field '" + name + "': found shape " + Arrays.toString(found)
                        + ", expected " + count + " rows, those of the batch: validRows() cannot shorten it");
            }
            found[0] = rows;
        }
        if (!Arrays.equals(found, dims)) {
            System.arraycopy(found, 0, dims, 0, found.length);
            long elements = 1;
            for (int d = dims.length - 1; d >= 0; d--) {
                rowMajor[d] = elements;
                elements *= Math.max(dims[d], 1);
            }
            shape = new Shape(dims.clone());
        }
    }
}
