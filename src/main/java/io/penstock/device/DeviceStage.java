package io.penstock.device;

import io.penstock.memory.SlabLayout;

/**
 * What happens to every batch on its device, between the copy and the trainer: tokens widened, images cropped and
 * normalized. A loader is given stages before it opens. It opens each once, enqueues it for every batch, and closes it;
 * so one stage may serve several loaders.
 *
 * {@snippet :
 * DeviceStage widen = (device, fields) -> new MyWidening(device, fields);
 * }
 *
 * <p><b>Order.</b> For each batch, in batch order, the loader enqueues on one stream: a wait for whoever still reads
 * the slot, the copy, the stages in the order in which they were given, and the event that makes the batch ready. So a
 * stage reads what the copy wrote and what the stages before it wrote, and whoever takes the batch sees all outputs.
 * All calls of {@link OpenStage#enqueue} of an open stage name the same stream: what a stage enqueues for a batch runs
 * behind all that it enqueued for the batch before.
 *
 * <p><b>Fields.</b> Outputs are fields of the batch. One that has the name of a field replaces it: stages behind and
 * the trainer see the output. All other fields stay as they are. Each output has memory of its own, so an output never
 * lies where an input does.
 *
 * <p><b>Memory.</b> The loader owns the memory of inputs and outputs: as much for each output as its layout says, in
 * every slot. It is aligned to {@value SlabLayout#ALIGNMENT_BYTES} bytes, and its content is undefined: a stage writes
 * every byte of the shape that it sets. It never writes an input. The memory is the stage's until what it enqueued has
 * run, and from then on the trainer's until the lease ends. What else a stage needs, scratch memory above all, it
 * allocates in {@link #open} and frees in {@link OpenStage#close}; one piece serves all batches, as their work runs in
 * order.
 *
 * <p><b>Shapes.</b> {@link OpenStage#outputs} has the greatest shape of each output, for as many samples as a batch can
 * have. A batch may have fewer, as the last one of an epoch, and a field of varying length differs from batch to batch:
 * {@link DeviceFields} has the shapes at hand, and the stage sets those of its outputs. They must be known when
 * {@link OpenStage#enqueue} returns; a length that only the device finds out becomes a greatest length, and an output
 * that says how much of it is used. Samples that carry no weight, at the end of a batch, are treated as any other.
 *
 * <p><b>The same everywhere.</b> The bytes of the outputs follow from those of the inputs alone: not from the device,
 * the slot, the batch before, or the time.
 *
 * <p><b>Threads.</b> {@link #open} and {@link OpenStage#close} are called by the threads that open and close the
 * loader, {@link OpenStage#enqueue} by one thread at a time, a platform thread for which the device is current. Calls of
 * one open stage never overlap, and each sees what the one before it wrote. Different loaders may open the same stage
 * at the same time.
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
     *     expected. The loader does not open
     * @throws DeviceException if the device refuses something that the stage needs; the loader does not open
     */
    OpenStage open(Device device, SlabLayout fields);
}
