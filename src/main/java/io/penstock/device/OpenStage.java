package io.penstock.device;

import io.penstock.memory.SlabLayout;

/** A {@link DeviceStage} that is ready for the batches of one loader. {@link DeviceStage} has the contract. */
public interface OpenStage extends AutoCloseable {
    /**
     * The outputs, each with its greatest shape. The same at every call.
     *
     * @return names, dtypes, shapes, and the most bytes of each
     */
    SlabLayout outputs();

    /**
     * Enqueues the work for one batch and sets the shapes of the outputs. It does not wait, and allocates nothing,
     * neither on the heap nor on the device. Work on another stream is allowed if this stream waits for it, and it for
     * this stream, by events.
     *
     * @param stream where; behind what is enqueued there the batch is ready
     * @param inputs the fields as {@link DeviceStage#open} was told of them, in the same order; not kept, not changed
     * @param outputs the {@link #outputs}, in the same order, with their greatest shapes; not kept
     * @throws RuntimeException if it fails; the loader ends with this error
     */
    void enqueue(DeviceStream stream, DeviceFields inputs, DeviceFields outputs);

    /**
     * Closes what the stage has opened. Called once, when all that it enqueued has run or the device has failed.
     *
     * @throws DeviceException if the device reports an error; the rest is closed all the same
     */
    @Override
    default void close() {
    }
}
