// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.pytorch.engine.PtNDManager;
import io.penstock.loader.Batch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The NDArrays of a batch with their manager and the lease on the slot that they are in. If the loader reuses leases,
 * they are lent again with each batch in the slot, which then costs few objects of DJL.
 */
final class BatchArrays implements AutoCloseable {

    /** In the batch's manager, so that it closes the lease if DJL closes the manager. */
    private static final String LEASE = "penstock lease";

    private final PtNDManager above;
    private final PtNDManager manager;
    /** What the manager is called in the one above. */
    private final String managerId;
    private final List<ArrayMaker> dataMakers;
    private final List<ArrayMaker> labelMakers;
    private final NDList data;
    private final NDList labels;
    private final List<SlotArray> inSlot = new ArrayList<>();
    private long[] samples = {};
    /** What is closed when the manager is; null while there is no batch in a slot. */
    private @Nullable Batch lease;
    /** Once the arrays have been lent; null if they cannot be lent again. */
    private @Nullable ManagerContents contents;

    /** @param above what the batch's manager is attached to as long as the batch is open */
    BatchArrays(PtNDManager above, Device device, List<ArrayMaker> dataMakers, List<ArrayMaker> labelMakers) {
        this.above = above;
        this.manager = above.newSubManager(device);
        this.managerId = manager.getName();
        this.dataMakers = dataMakers;
        this.labelMakers = labelMakers;
        this.data = new NDList(dataMakers.size());
        this.labels = new NDList(labelMakers.size());
        manager.attachInternal(LEASE, this);
    }

    PtNDManager manager() {
        return manager;
    }

    NDList data() {
        return data;
    }

    NDList labels() {
        return labels;
    }

    /** The index of each row's sample. */
    long[] samples() {
        return samples;
    }

    /** Whether a later batch has, or will have, these arrays. */
    boolean canBeLentAgain() {
        return contents != null && manager.isOpen();
    }

    /**
     * Makes the arrays of a batch, which is closed at once if none of them is in its slot.
     *
     * @param rows the number of rows of each field
     */
    void lend(Batch batch, int rows) {
        try {
            if (contents == null) {
                make(dataMakers, batch, rows, data);
                make(labelMakers, batch, rows, labels);
                if (batch.isReused() && inSlot.size() == dataMakers.size() + labelMakers.size()) {
                    contents = ManagerContents.of(manager);
                }
            } else {
                above.attachUncappedInternal(managerId, manager);
                lendAgain(dataMakers, batch, rows, data, 0);
                lendAgain(labelMakers, batch, rows, labels, dataMakers.size());
            }
        } catch (Throwable t) {
            manager.close();
            throw t;
        }
        if (samples.length != rows) {
            samples = new long[rows];
        }
        for (int row = 0; row < rows; row++) {
            samples[row] = batch.sample(row);
        }
        if (inSlot.isEmpty()) {
            batch.close();
        } else {
            lease = batch;
        }
    }

    private void make(List<ArrayMaker> makers, Batch batch, int rows, NDList list) {
        for (int i = 0; i < makers.size(); i++) {
            NDArray array = makers.get(i).make(batch, rows, manager);
            list.add(array);
            if (array instanceof SlotArray slot) {
                inSlot.add(slot);
            }
        }
    }

    private void lendAgain(List<ArrayMaker> makers, Batch batch, int rows, NDList list, int first) {
        list.clear();
        for (int i = 0; i < makers.size(); i++) {
            SlotArray array = inSlot.get(first + i);
            makers.get(i).lend(array, batch, rows);
            list.add(array);
        }
    }

    /**
     * Frees the arrays' tensors and what was computed from them, then returns the slot.
     *
     * @throws WrongThreadException if the batch belongs to another thread; calling this again returns the slot
     */
    void end() {
        if (isAsBefore()) {
            for (int i = 0; i < inSlot.size(); i++) {
                inSlot.get(i).release();
            }
            above.detachInternal(managerId);
        } else {
            manager.detachInternal(LEASE);
            manager.close();
        }
        close();
    }

    /** Whether the manager and its arrays can serve another batch, once all else is closed. */
    private boolean isAsBefore() {
        if (contents == null || !manager.isOpen()) {
            return false;
        }
        for (int i = 0; i < inSlot.size(); i++) {
            if (!inSlot.get(i).canBeLentAgain()) {
                return false;
            }
        }
        return contents.restore();
    }

    /** Returns the slot. Called behind the manager of the arrays, or by it: then it is no longer open. */
    @Override
    public void close() {
        Batch batch = lease;
        if (batch != null) {
            for (int i = 0; i < inSlot.size(); i++) {
                inSlot.get(i).leaveSlot();
            }
            batch.close();
            lease = null;
        }
    }
}
