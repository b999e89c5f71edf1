// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.Device;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;

/** An NDArray in memory of a loader's slot. What it is was known before, so nobody asks torch. */
final class SlotArray extends PtNDArray {

    private final Shape shape;
    private final DataType type;
    private final Device device;

    SlotArray(PtNDManager manager, long tensor, Shape shape, DataType type, Device device) {
        super(manager, tensor);
        this.shape = shape;
        this.type = type;
        this.device = device;
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

    /**
     * Leaves the slot, which takes another batch now: copies the values if the array was given to a manager that is
     * still open.
     */
    void leaveSlot() {
        if (!isReleased() && getManager().isOpen()) {
            intern(duplicate());
        }
    }
}
