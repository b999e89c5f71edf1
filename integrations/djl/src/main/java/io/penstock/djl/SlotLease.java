// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import io.penstock.loader.Batch;
import java.util.List;

/** What ends with DJL's batch: the lease on the slot that its NDArrays are in. */
final class SlotLease implements AutoCloseable {

    private final Batch batch;
    private final List<SlotArray> arrays;
    /** Closed once: the engine may lend the same batch object again. */
    private boolean isClosed;

    SlotLease(Batch batch, List<SlotArray> arrays) {
        this.batch = batch;
        this.arrays = arrays;
    }

    /**
     * Returns the slot. Called behind the manager of the NDArrays, or by it: then it is no longer open.
     *
     * @throws WrongThreadException if the batch belongs to another thread; it stays open
     */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        for (int i = 0; i < arrays.size(); i++) {
            arrays.get(i).leaveSlot();
        }
        batch.close();
        isClosed = true;
    }
}
