package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStream;
import io.penstock.device.OpenStage;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.util.ArrayList;
import java.util.List;

/**
 * The stages of a loader, open for its batches, the fields that each of them leaves, and where its outputs lie in a
 * device slot:
 *
 * <pre>
 *   0               capacity of the host slot
 *   | what is copied | outputs of stage 0 | outputs of stage 1 | … | slot bytes
 * </pre>
 */
public final class DeviceStages implements AutoCloseable {

    /**
     * The fields that a stage is given, or the trainer.
     *
     * @param layout the fields
     * @param stages for each field, the stage that it is an output of; -1 if it was copied
     * @param indices for each field, its index in the outputs of that stage, or among the fields that are copied
     */
    record View(SlabLayout layout, List<Integer> stages, List<Integer> indices) {

        static View copied(SlabLayout layout) {
            List<Integer> indices = new ArrayList<>();
            for (int f = 0; f < layout.fields().size(); f++) {
                indices.add(f);
            }
            return new View(layout, indices.stream().map(_ -> -1).toList(), indices);
        }

        /** The fields behind a stage: its outputs stand where the fields of their names stood, or behind all. */
        View with(int stage, SlabLayout outputs) {
            List<TensorSpec> fields = new ArrayList<>(layout.fields());
            List<Long> maxBytes = new ArrayList<>(layout.maxBytes());
            List<Integer> madeBy = new ArrayList<>(stages);
            List<Integer> madeAs = new ArrayList<>(indices);
            List<String> names = layout.fields().stream().map(TensorSpec::name).toList();
            for (int o = 0; o < outputs.fields().size(); o++) {
                TensorSpec output = outputs.fields().get(o);
                int at = names.indexOf(output.name());
                put(fields, at, output);
                put(maxBytes, at, outputs.maxBytes().get(o));
                put(madeBy, at, stage);
                put(madeAs, at, o);
            }
            return new View(new SlabLayout(fields, maxBytes), madeBy, madeAs);
        }

        private static <T> void put(List<T> list, int at, T value) {
            if (at < 0) {
                list.add(value);
            } else {
                list.set(at, value);
            }
        }
    }

    private final List<DeviceStage> stages;
    private final List<OpenStage> open = new ArrayList<>();
    /** Before each stage, and behind the last. */
    private final List<View> views = new ArrayList<>();
    /** For each stage, where its outputs start in a slot. */
    private final List<Long> outputOffsets = new ArrayList<>();
    private final long slotBytes;
    private final Opened opened = new Opened();
    /** What is being enqueued; null if nothing is. Of the copy thread. */
    private DeviceStage running;

    /**
     * Opens the stages.
     *
     * @param copied the fields that are copied to the device
     * @throws IllegalArgumentException if these are not the fields that a stage works on; names the stage
     */
    public DeviceStages(Device device, SlabLayout copied, List<DeviceStage> stages) {
        this.stages = List.copyOf(stages);
        View view = View.copied(copied);
        views.add(view);
        long end = copied.capacityBytes();
        try {
            for (DeviceStage stage : this.stages) {
                OpenStage made = opened.add(open(stage, device, view.layout), OpenStage::close);
                view = view.with(open.size(), made.outputs());
                open.add(made);
                views.add(view);
                outputOffsets.add(end);
                end = Math.addExact(end, made.outputs().capacityBytes());
            }
        } catch (Throwable t) {
            opened.closeAfter(t);
            throw t;
        }
        slotBytes = end;
    }

    private static OpenStage open(DeviceStage stage, Device device, SlabLayout fields) {
        try {
            return stage.open(device, fields);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("stage '" + stage + "': " + e.getMessage(), e);
        }
    }

    int count() {
        return open.size();
    }

    /** The fields before a stage; with their number, those of the batch. */
    View view(int stage) {
        return views.get(stage);
    }

    /** The fields of a batch behind all stages. */
    public SlabLayout batchLayout() {
        return views.getLast().layout;
    }

    /** What a slot needs for what is copied and all outputs, in bytes. */
    public long slotBytes() {
        return slotBytes;
    }

    SlabLayout outputs(int stage) {
        return open.get(stage).outputs();
    }

    /** Where an output of a stage starts in a slot, which has room for the most bytes of all outputs before it. */
    long outputOffset(int stage, int output) {
        long offset = outputOffsets.get(stage);
        for (int o = 0; o < output; o++) {
            offset = SlabLayout.align(offset + outputs(stage).maxBytes().get(o));
        }
        return offset;
    }

    void enqueue(int stage, DeviceStream stream, DeviceFields in, DeviceFields out) {
        running = stages.get(stage);
        open.get(stage).enqueue(stream, in, out);
        checkBounds(out);
        running = null;
    }

    private static void checkBounds(DeviceFields out) {
        for (int o = 0; o < out.layout().fields().size(); o++) {
            TensorSpec output = out.layout().fields().get(o);
            long bytes = out.elements(o) * output.dtype().byteSize();
            if (bytes > out.layout().maxBytes().get(o)) {
                throw new IllegalStateException(output.name() + ": the stage sets a shape of " + bytes
                        + " bytes, expected at most " + out.layout().maxBytes().get(o));
            }
        }
    }

    /** What the copy thread is doing to a batch, for an error. */
    String doing() {
        return running == null ? "copying" : "running stage '" + running + "' on";
    }

    /** Closes the stages, in reverse. Only when nothing of theirs runs. Calling it again does nothing. */
    @Override
    public void close() {
        opened.close();
    }
}
