// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;

/**
 * The fields of one batch in device memory: each field's address and its shape in this batch. The object is reused from
 * batch to batch without allocating. Not thread-safe.
 */
public final class DeviceFields {
    private final SlabLayout layout;
    private final long[] addresses;
    private final long[] hostAddresses;
    private final long[][] shapes;
    private int count;

    /**
     * Creates fields at their maximum shapes, without addresses.
     *
     * @param layout the fields
     */
    public DeviceFields(SlabLayout layout) {
        this.layout = layout;
        this.addresses = new long[layout.fields().size()];
        this.hostAddresses = new long[layout.fields().size()];
        this.shapes = layout.fields().stream().map(TensorSpec::shape).toArray(long[][]::new);
    }

    /**
     * The fields at their maximum shapes.
     *
     * @return names, dtypes and shapes
     */
    public SlabLayout layout() {
        return layout;
    }

    /**
     * Starts another batch: resets every field to its maximum shape.
     *
     * @param samples the batch's sample count
     */
    public void begin(int samples) {
        count = samples;
        for (int f = 0; f < shapes.length; f++) {
            for (int d = 0; d < shapes[f].length; d++) {
                shapes[f][d] = layout.fields().get(f).dim(d);
            }
        }
    }

    /**
     * The batch's sample count, which is the first dimension of most fields.
     *
     * @return from 1
     */
    public int count() {
        return count;
    }

    /**
     * A field's address.
     *
     * @param field the field's index in the layout
     * @return an address in device memory
     */
    public long address(int field) {
        return addresses[field];
    }

    /**
     * Sets a field's address; for the owner of the memory.
     *
     * @param field the field's index in the layout
     * @param address the address, a multiple of {@value SlabLayout#ALIGNMENT_BYTES}
     */
    public void setAddress(int field, long address) {
        addresses[field] = address;
    }

    /**
     * The address of the page-locked host memory that a field was copied from, for a stage that {@linkplain
     * OpenStage#readsHost reads} it.
     *
     * @param field the field's index in the layout
     * @return an address in host memory; 0 if a stage wrote the field, or the stage does not read host memory
     */
    public long hostAddress(int field) {
        return hostAddresses[field];
    }

    /**
     * Sets the address of the host memory that a field is copied from; for the owner of the memory.
     *
     * @param field the field's index in the layout
     * @param address the address
     */
    public void setHostAddress(int field, long address) {
        hostAddresses[field] = address;
    }

    /**
     * One dimension of a field in this batch.
     *
     * @param field the field's index in the layout
     * @param d the dimension's index
     * @return its size
     */
    public long dim(int field, int d) {
        return shapes[field][d];
    }

    /**
     * Sets one dimension of a field for this batch.
     *
     * @param field the field's index in the layout
     * @param d the dimension's index
     * @param size its size
     * @throws IllegalArgumentException if the size is negative or greater than the layout's
     */
    public void setDim(int field, int d, long size) {
        TensorSpec spec = layout.fields().get(field);
        if (size < 0 || size > spec.dim(d)) {
            throw new IllegalArgumentException(spec + ": dimension " + d + " set to " + size);
        }
        shapes[field][d] = size;
    }

    /**
     * A field's element count in this batch.
     *
     * @param field the field's index in the layout
     * @return the product of its dimensions
     */
    public long elements(int field) {
        long elements = 1;
        for (long dim : shapes[field]) {
            elements *= dim;
        }
        return elements;
    }
}
