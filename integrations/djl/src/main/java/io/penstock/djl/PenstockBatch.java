// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import java.util.List;
import java.util.stream.LongStream;

/** A DJL batch whose end is the end of the lease on a slot. */
final class PenstockBatch extends Batch {

    private final BatchArrays arrays;
    private boolean isOpen = true;

    PenstockBatch(BatchArrays arrays, long progress, long progressTotal) {
        super(arrays.manager(), arrays.data(), arrays.labels(), arrays.samples().length, Batchifier.STACK,
                Batchifier.STACK, progress, progressTotal);
        this.arrays = arrays;
    }

    @Override
    public NDManager getManager() {
        checkNotLentAgain();
        return super.getManager();
    }

    @Override
    public NDList getData() {
        checkNotLentAgain();
        return super.getData();
    }

    @Override
    public NDList getLabels() {
        checkNotLentAgain();
        return super.getLabels();
    }

    /** The index of each row's sample in the dataset. */
    @Override
    public List<Long> getIndices() {
        checkNotLentAgain();
        return LongStream.of(arrays.samples()).boxed().toList();
    }

    private void checkNotLentAgain() {
        if (!isOpen && arrays.canBeLentAgain()) {
            throw new IllegalStateException("the batch is closed, and under LeaseMode.REUSED its NDArrays are lent"
                    + " again with later batches; read what you need before, or use another lease mode");
        }
    }

    /** For one device, where the batch is, the batch itself: it is split and closed as one. */
    @Override
    public Batch[] split(Device[] devices, boolean evenSplit) {
        NDList data = getData();
        return devices.length == 1 && devices[0].equals(data.head().getDevice()) ? new Batch[] {this}
                : super.split(devices, evenSplit);
    }

    /**
     * Frees the NDArrays, then returns the slot. Calling it again does nothing.
     *
     * @throws WrongThreadException if the batch belongs to another thread: the slot stays lent until that one closes
     *     the batch
     */
    @Override
    public void close() {
        if (isOpen) {
            arrays.end();
            isOpen = false;
        }
    }
}
