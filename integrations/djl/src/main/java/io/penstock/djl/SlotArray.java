// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;

/**
 * An NDArray in memory of a loader's slot. It knows its shape, type and device, and does not ask torch for them. If
 * the loader reuses leases, the array is lent again, with a new tensor for each batch: what was done to one tensor,
 * such as asking for a gradient, is not seen in the next.
 */
final class SlotArray extends PtNDArray {

    private final DataType type;
    private final Device device;
    private Shape shape;
    private boolean isAskedForGradient;

    SlotArray(PtNDManager manager, long tensor, Shape shape, DataType type, Device device) {
        super(manager, tensor);
        this.shape = shape;
        this.type = type;
        this.device = device;
    }

    /** Takes the next batch's tensor, behind {@link #release}. */
    void lend(long tensor, Shape ofTensor) {
        handle.set(tensor);
        shape = ofTensor;
        NDScope.register(this);
    }

    /** Deletes the tensor, after which DJL says that the array is released. The array stays in its manager. */
    @SuppressWarnings("NullAway")
    void release() {
        Long tensor = handle.getAndSet(null);
        if (tensor != null) {
            Torch.delete(tensor);
        }
    }

    /** Returns whether DJL remembers nothing of this tensor that would be wrong for the next one. */
    boolean canBeLentAgain() {
        return !isReleased() && !isAskedForGradient;
    }

    /**
     * Leaves the slot, which is to take another batch. An array that was given to a manager that is still open keeps a
     * copy of its values.
     */
    void leaveSlot() {
        if (!isReleased() && getManager().isOpen()) {
            intern(duplicate());
        }
    }

    @Override
    public Shape getShape() {
        return shape;
    }

    @Override
    public DataType getDataType() {
        return type;
    }

    @Override
    public Device getDevice() {
        return device;
    }

    @Override
    public void setRequiresGradient(boolean requiresGrad) {
        isAskedForGradient = true;
        super.setRequiresGradient(requiresGrad);
    }

    @Override
    public boolean hasGradient() {
        isAskedForGradient = true;
        return super.hasGradient();
    }

    /** Does nothing if the array is there: DJL's batch attaches what it is given. */
    @Override
    public void attach(NDManager manager) {
        if (manager != getManager()) {
            super.attach(manager);
        }
    }

    /** Does nothing if there is no tensor: a scope of DJL may close the array when its batch is over. */
    @Override
    public void close() {
        if (!isReleased()) {
            super.close();
        }
    }
}
