// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStream;
import io.penstock.loader.slots.DeviceStages.Origin;
import io.penstock.memory.Slab;
import java.util.stream.Stream;

/** The inputs and outputs of all stages in one device slot, reused for every batch. Used by the copy thread alone. */
final class StagedSlot {

    private final DeviceStages stages;
    /** Where the slot starts on its device. */
    private final long address;
    /** One per stage. */
    private final DeviceFields[] inputs;
    private final DeviceFields[] outputs;
    /** For each stage, then for the trainer: where each field comes from, and its offset if a stage wrote it. */
    private final Origin[][] origins;
    private final long[][] offsets;
    /** The offsets in the slot of the fields that the trainer sees, for the current batch. */
    private final long[] starts;

    StagedSlot(DeviceStages stages, long address) {
        this.stages = stages;
        this.address = address;
        this.inputs = new DeviceFields[stages.count()];
        this.outputs = new DeviceFields[stages.count()];
        this.origins = new Origin[stages.count() + 1][];
        this.offsets = new long[stages.count() + 1][];
        for (int s = 0; s <= stages.count(); s++) {
            origins[s] = stages.view(s).origins().toArray(Origin[]::new);
            offsets[s] = Stream.of(origins[s])
                    .mapToLong(from -> from.stage() == Origin.COPY ? 0 : stages.outputOffset(from)).toArray();
        }
        this.starts = new long[offsets[stages.count()].length];
        for (int s = 0; s < stages.count(); s++) {
            inputs[s] = new DeviceFields(stages.view(s).layout());
            outputs[s] = new DeviceFields(stages.outputs(s));
            for (int o = 0; o < stages.outputs(s).fields().size(); o++) {
                outputs[s].setAddress(o, address + stages.outputOffset(new Origin(s, o)));
            }
        }
    }

    /**
     * Enqueues the stages for a batch, and sets the fields that the trainer sees.
     *
     * @param copied the copied fields
     * @param samples the number of samples in the batch
     * @param batch set to the fields that the trainer sees
     */
    void enqueue(DeviceStream stream, Slab copied, int samples, Slab batch) {
        for (int s = 0; s < inputs.length; s++) {
            DeviceFields in = inputs[s];
            in.begin(samples);
            for (int f = 0; f < origins[s].length; f++) {
                in.setAddress(f, address + offset(s, f, copied));
                if (origins[s][f].stage() == Origin.COPY && stages.readsHost(s)) {
                    in.setHostAddress(f, copied.segment().address() + copied.offset(origins[s][f].index()));
                }
                for (int d = 0; d < in.layout().fields().get(f).rank(); d++) {
                    in.setDim(f, d, dim(s, f, d, copied));
                }
            }
            outputs[s].begin(samples);
            stages.enqueue(s, stream, in, outputs[s]);
        }
        for (int f = 0; f < starts.length; f++) {
            for (int d = 0; d < batch.layout().fields().get(f).rank(); d++) {
                batch.setDim(f, d, dim(inputs.length, f, d, copied));
            }
            starts[f] = offset(inputs.length, f, copied);
        }
        batch.layOut(starts);
    }

    private long offset(int view, int field, Slab copied) {
        Origin from = origins[view][field];
        return from.stage() == Origin.COPY ? copied.offset(from.index()) : offsets[view][field];
    }

    private long dim(int view, int field, int d, Slab copied) {
        Origin from = origins[view][field];
        return from.stage() == Origin.COPY ? copied.dim(from.index(), d) : outputs[from.stage()].dim(from.index(), d);
    }
}
