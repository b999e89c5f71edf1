package io.penstock.loader.slots;

import io.penstock.device.DeviceFields;
import io.penstock.device.DeviceStream;
import io.penstock.memory.Slab;
import java.util.List;

/** The inputs and outputs of all stages in one device slot, reused for every batch. Used by the copy thread alone. */
final class StagedSlot {

    private final DeviceStages stages;
    /** Where the slot starts on its device. */
    private final long address;
    /** One per stage. */
    private final DeviceFields[] inputs;
    private final DeviceFields[] outputs;
    /** For each stage, then for the trainer: the stage that wrote each field, its index there, and its offset. */
    private final int[][] madeBy;
    private final int[][] madeAs;
    private final long[][] offsets;
    /** The offsets in the slot of the fields that the trainer sees, for the current batch. */
    private final long[] starts;

    StagedSlot(DeviceStages stages, long address) {
        this.stages = stages;
        this.address = address;
        this.inputs = new DeviceFields[stages.count()];
        this.outputs = new DeviceFields[stages.count()];
        this.madeBy = new int[stages.count() + 1][];
        this.madeAs = new int[stages.count() + 1][];
        this.offsets = new long[stages.count() + 1][];
        for (int s = 0; s <= stages.count(); s++) {
            DeviceStages.View view = stages.view(s);
            madeBy[s] = ints(view.stages());
            madeAs[s] = ints(view.indices());
            offsets[s] = new long[madeBy[s].length];
            for (int f = 0; f < offsets[s].length; f++) {
                offsets[s][f] = madeBy[s][f] < 0 ? 0 : stages.outputOffset(madeBy[s][f], madeAs[s][f]);
            }
        }
        this.starts = new long[offsets[stages.count()].length];
        for (int s = 0; s < stages.count(); s++) {
            inputs[s] = new DeviceFields(stages.view(s).layout());
            outputs[s] = new DeviceFields(stages.outputs(s));
            for (int o = 0; o < stages.outputs(s).fields().size(); o++) {
                outputs[s].setAddress(o, address + stages.outputOffset(s, o));
            }
        }
    }

    private static int[] ints(List<Integer> list) {
        return list.stream().mapToInt(i -> i).toArray();
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
            for (int f = 0; f < madeBy[s].length; f++) {
                in.setAddress(f, address + offset(s, f, copied));
                for (int d = 0; d < in.layout().fields().get(f).rank(); d++) {
                    in.setDim(f, d, dim(s, f, d, copied));
                }
            }
            outputs[s].begin(samples);
            stages.enqueue(s, stream, in, outputs[s]);
        }
        for (int f = 0; f < madeBy[inputs.length].length; f++) {
            for (int d = 0; d < batch.layout().fields().get(f).rank(); d++) {
                batch.setDim(f, d, dim(inputs.length, f, d, copied));
            }
            starts[f] = offset(inputs.length, f, copied);
        }
        batch.layOut(starts);
    }

    private long offset(int view, int field, Slab copied) {
        return madeBy[view][field] < 0 ? copied.offset(madeAs[view][field]) : offsets[view][field];
    }

    private long dim(int view, int field, int d, Slab copied) {
        int stage = madeBy[view][field];
        return stage < 0 ? copied.dim(madeAs[view][field], d) : outputs[stage].dim(madeAs[view][field], d);
    }
}
