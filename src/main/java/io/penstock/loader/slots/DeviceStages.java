// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStage.OpenStage;
import io.penstock.device.DeviceStream;
import io.penstock.internal.Opened;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The open stages of a loader, the fields before and after each stage, and the layout of the outputs in a device slot:
 *
 * <pre>
 *   0               capacity of the host slot
 *   | what is copied | outputs of stage 0 | outputs of stage 1 | … | slot bytes
 * </pre>
 */
public final class DeviceStages implements AutoCloseable {

    /**
     * Where a field comes from.
     *
     * @param stage the stage that wrote it, or {@link #COPY}
     * @param index its index among the outputs of that stage, or among the copied fields
     */
    record Origin(int stage, int index) {
        static final int COPY = -1;
    }

    /**
     * The fields that a stage, or the trainer, sees.
     *
     * @param layout the fields
     * @param origins where each field comes from
     */
    record View(SlabLayout layout, List<Origin> origins) {

        static View copied(SlabLayout layout) {
            return new View(layout, IntStream.range(0, layout.fields().size())
                    .mapToObj(field -> new Origin(Origin.COPY, field)).toList());
        }

        /** Returns the fields after a stage. An output replaces the field with its name, or comes last. */
        View with(int stage, SlabLayout outputs) {
            List<TensorSpec> fields = new ArrayList<>(layout.fields());
            List<Long> maxBytes = new ArrayList<>(layout.maxBytes());
            List<Origin> from = new ArrayList<>(origins);
            List<String> names = layout.fields().stream().map(TensorSpec::name).toList();
            for (int o = 0; o < outputs.fields().size(); o++) {
                TensorSpec output = outputs.fields().get(o);
                int at = names.indexOf(output.name());
                put(fields, at, output);
                put(maxBytes, at, outputs.maxBytes().get(o));
                put(from, at, new Origin(stage, o));
            }
            return new View(new SlabLayout(fields, maxBytes), from);
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
    /** The fields before each stage and after the last. */
    private final List<View> views = new ArrayList<>();
    /** For each stage, where its outputs start in a slot. */
    private final List<Long> outputOffsets = new ArrayList<>();
    private final long slotBytes;
    private final Opened opened = new Opened();
    /** The stage that is being enqueued, or null. Used by the copy thread alone. */
    private @Nullable DeviceStage running;

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

    /** Returns the fields before a stage; for the number of stages, the fields of the batch. */
    View view(int stage) {
        return views.get(stage);
    }

    /** Returns the fields of a batch, after all stages. */
    public SlabLayout batchLayout() {
        return views.getLast().layout;
    }

    /** Returns the bytes of a device slot: the copied slab and all outputs. */
    public long slotBytes() {
        return slotBytes;
    }

    /** Tells whether a stage reads the host slot. */
    boolean readsHost(int stage) {
        return open.get(stage).readsHost();
    }

    /** Tells whether any stage reads the host slot. */
    boolean readHost() {
        return open.stream().anyMatch(OpenStage::readsHost);
    }

    SlabLayout outputs(int stage) {
        return open.get(stage).outputs();
    }

    /** Returns where an output starts in a device slot. All outputs before it have room for their most bytes. */
    long outputOffset(Origin output) {
        long offset = outputOffsets.get(output.stage);
        for (int o = 0; o < output.index; o++) {
            offset = SlabLayout.align(offset + outputs(output.stage).maxBytes().get(o));
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

    /** Returns what the copy thread is doing to a batch, for error messages. */
    String doing() {
        return running == null ? "copying" : "running stage '" + running + "' on";
    }

    /** Closes the stages in reverse order. Called when none of their work runs. Calling it again does nothing. */
    @Override
    public void close() {
        opened.close();
    }
}
