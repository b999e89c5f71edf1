// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** A DJL batch whose end is the end of the lease on a slot. */
final class PenstockBatch extends Batch {

    /** In the batch's own manager, so that it closes the lease if DJL closes the manager. */
    private static final String LEASE = "penstock lease";

    private final long[] samples;
    private final @Nullable SlotLease lease;
    private boolean isOpen = true;

    /**
     * @param samples the index of each row's sample
     * @param lease what to close behind the NDArrays; null if none of them is in a slot
     */
    PenstockBatch(NDManager manager, NDList data, NDList labels, long progress, long progressTotal, long[] samples,
            @Nullable SlotLease lease) {
        super(manager, data, labels, samples.length, Batchifier.STACK, Batchifier.STACK, progress, progressTotal);
        this.samples = samples;
        this.lease = lease;
        if (lease != null) {
            manager.attachInternal(LEASE, lease);
        }
    }

    /** The index of each row's sample in the dataset. */
    @Override
    public List<Long> getIndices() {
        return LongStream.of(samples).boxed().toList();
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
            if (lease != null) {
                getManager().detachInternal(LEASE);
            }
            super.close();
            isOpen = false;
        }
        if (lease != null) {
            lease.close();
        }
    }
}
