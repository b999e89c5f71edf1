// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import io.penstock.memory.SlabLayout;

/** A {@link DeviceStage} opened for one loader's batches. {@link DeviceStage} states the contract. */
public interface OpenStage extends AutoCloseable {
    /**
     * The outputs at their maximum shapes. The same at every call.
     *
     * @return names, dtypes, shapes, and maximum byte sizes
     */
    SlabLayout outputs();

    /**
     * Enqueues the work for one batch and sets the output shapes. It does not wait for this batch, and allocates
     * nothing on the heap or the device. It may use other streams if events order their work after and before this
     * stream's.
     *
     * @param stream the stream on which the batch is ready once the enqueued work has run
     * @param inputs the fields given to {@link DeviceStage#open}, in the same order; not kept, not changed
     * @param outputs the {@link #outputs}, in the same order, at their maximum shapes; not kept
     * @throws RuntimeException if it fails; the loader then ends with this error
     */
    void enqueue(DeviceStream stream, DeviceFields inputs, DeviceFields outputs);

    /**
     * Tells whether the stage's work reads the host memory that fields were copied from, at {@link
     * DeviceFields#hostAddress}. The loader then keeps this memory unchanged until the work has run. The same at every
     * call.
     *
     * @return false by default
     */
    default boolean readsHost() {
        return false;
    }

    /**
     * Closes what the stage opened. Called once, after all its enqueued work has run or the device has failed.
     *
     * @throws DeviceException if the device reports an error; the rest is still closed
     */
    @Override
    default void close() {
    }
}
