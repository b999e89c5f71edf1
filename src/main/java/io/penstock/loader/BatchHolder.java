package io.penstock.loader;

import io.penstock.dlpack.DLDevice;
import io.penstock.memory.SlabTable;
import io.penstock.sampling.BatchPlan;
import java.lang.foreign.MemorySegment;

/** What a slot has of the batch in it, wherever the slot is: what a lease shows. */
final class BatchHolder {

    final BatchPlan plan;
    final SlabTable table;
    /** The slab's memory where the CPU can read it; null where it cannot. */
    final MemorySegment memory;
    /** The slab's address on its device. */
    final long address;
    /** The slab's device in DLPack's terms. */
    final DLDevice device;
    /** The lease that is out, if any: set when the batch is taken, cleared when its slot is given back. */
    volatile Batch lent;

    /** The memory from each field's start on, and the offset it was made for: so that a view is one object. */
    private final MemorySegment[] starts;
    private final long[] startOffsets;

    BatchHolder(BatchPlan plan, SlabTable table, MemorySegment memory, long address, DLDevice device) {
        this.plan = plan;
        this.table = table;
        this.memory = memory;
        this.address = address;
        this.device = device;
        this.starts = new MemorySegment[table.layout().fields().size()];
        this.startOffsets = new long[starts.length];
    }

    /** The memory from a field's start on. */
    MemorySegment start(int field) {
        long offset = table.offset(field);
        if (starts[field] == null || startOffsets[field] != offset) {
            starts[field] = memory.asSlice(offset);
            startOffsets[field] = offset;
        }
        return starts[field];
    }

    /** Whether the batch is closed and DLPack consumers alone keep the slot. */
    boolean isKeptByConsumers() {
        Batch batch = lent;
        return batch != null && batch.isClosed();
    }

    /** Whether the slot is out on a lease that only the calling thread can end: waiting for it would be for ever. */
    boolean isLentToCaller() {
        Batch batch = lent;
        return batch != null && batch.belongsToCaller();
    }
}
