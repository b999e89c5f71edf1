// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import io.penstock.memory.SlabLayout;

/**
 * What happens to every batch on its device, between the copy and the trainer: tokens widened, images cropped and
 * normalized. A loader is given stages before it opens. It opens each stage once, enqueues it for every batch, and
 * closes it. One stage may serve several loaders. Its {@code toString} names it in messages.
 *
 * <p><b>Order.</b> For each batch, in batch order, the loader enqueues on one stream:
 *
 * <ol>
 *   <li>a wait for the streams that still read the slot, inputs and outputs alike;
 *   <li>the copy of the fields, and the event that frees the host's memory, unless a stage
 *       {@linkplain OpenStage#readsHost reads} that as well: then the event comes behind the stages;
 *   <li>the stages, in the order in which the loader was given them;
 *   <li>the event that makes the batch ready.
 * </ol>
 *
 * <p>So a stage reads what the copy and the stages before it wrote, and the trainer sees all outputs. The stream is the
 * same in all calls of {@link OpenStage#enqueue} of an open stage: work for one batch runs behind all work for the
 * batch before. A loader with stages copies each batch, also where the CPU can read the device's memory.
 *
 * <p><b>Fields.</b> Outputs are fields of the batch. An output with the name of a field replaces it: the stages behind
 * and the trainer see the output. All other fields stay. No output shares memory with an input.
 *
 * <p><b>Memory.</b> The loader owns the memory of inputs and outputs. Each slot has memory for the outputs, as much as
 * {@link OpenStage#outputs} says, aligned to {@value SlabLayout#ALIGNMENT_BYTES} bytes. What it holds before is
 * undefined, so a stage writes every byte of the shape that it sets. It never writes an input. The memory is the
 * stage's until what it enqueued has run, then the trainer's until the lease ends. Scratch memory a stage allocates in
 * {@link #open} and frees in {@link OpenStage#close}; one piece serves all batches, as their work runs in order.
 *
 * <p><b>Shapes.</b> {@link OpenStage#outputs} has the greatest shapes. The last batch of an epoch may have fewer
 * samples, and a field of variable length has another length in each batch: {@link DeviceFields} has the shapes of the
 * batch at hand, and the stage sets those of its outputs. They are final when {@link OpenStage#enqueue} returns. For a
 * length that only the device finds out, a stage uses the greatest length, and an output that says how much of it is
 * used. A sample that carries no weight is treated like any other.
 *
 * <p><b>Determinism.</b> The bytes of the outputs depend on those of the inputs alone, not on the device, the slot, the
 * batches before, or the time.
 *
 * <p><b>Threads.</b> The threads that open and close the loader call {@link #open} and {@link OpenStage#close}. One
 * thread at a time calls {@link OpenStage#enqueue}, a platform thread for which the device is current. Calls of one
 * open stage never overlap, and each sees what the one before it wrote. Several loaders may open the same stage at
 * once.
 *
 * <p><b>Errors.</b> If {@link #open} throws, the loader does not open, and closes the stages that it had opened. If
 * {@link OpenStage#enqueue} throws, the batch is not given: the loader ends with this error, which the trainer gets
 * with the number of the batch. What the device reports later, of work that a stage enqueued, ends the loader as an
 * error of the copy does. In each case the loader waits until the stream is idle, then closes the stages.
 */
@FunctionalInterface
public interface DeviceStage {
    /**
     * Prepares the stage for the batches of one loader.
     *
     * @param device the loader's device, which stays open for longer than the stage
     * @param fields the fields of a batch, each with its greatest shape, as the stages before have left them
     * @return the stage, which the caller closes
     * @throws IllegalArgumentException if these are not the fields that the stage works on; names field, found and
     *     expected
     * @throws DeviceException if the device refuses something that the stage needs
     */
    OpenStage open(Device device, SlabLayout fields);

    /** A {@link DeviceStage} opened for one loader's batches. {@link DeviceStage} states the contract. */
    interface OpenStage extends AutoCloseable {
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
         * DeviceFields#hostAddress}. The loader then keeps this memory unchanged until the work has run. The same at
         * every call.
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
}
