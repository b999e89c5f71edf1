package io.penstock.loader.slots;

import io.penstock.dlpack.DLDevice;
import io.penstock.memory.SlabTable;
import io.penstock.memory.Tensor;
import io.penstock.sampling.BatchPlan;
import java.lang.foreign.MemorySegment;

/** The contents of a slot, on any device, as a lease shows them. */
public final class BatchHolder {

    /** The index of the slot among the slots of its kind. */
    public final int index;
    public final BatchPlan plan;
    public final SlabTable table;
    /** The slab's memory; null if the CPU cannot read it. */
    public final MemorySegment memory;
    /** The slab's address on its device. */
    public final long address;
    /** The slab's device in DLPack's terms. */
    public final DLDevice device;
    /** The lease that is out, if any: set when the batch is taken, cleared when its slot is given back. */
    volatile Lease lent;

    /** The lease for every batch in the slot, if leases are reused. */
    private Lease reused;
    /** The memory from each field's start on, and the offset it was made for: so that a view is one object. */
    private final MemorySegment[] starts;
    private final long[] startOffsets;
    /** If leases are reused, what was given for each field last, where that was, and the segment that was given. */
    private final Tensor[] tensors;
    private final long[] tensorOffsets;
    private MemorySegment used;

    BatchHolder(int index, BatchPlan plan, SlabTable table, MemorySegment memory, long address, DLDevice device) {
        this.index = index;
        this.plan = plan;
        this.table = table;
        this.memory = memory;
        this.address = address;
        this.device = device;
        this.starts = new MemorySegment[table.layout().fields().size()];
        this.startOffsets = new long[starts.length];
        this.tensors = new Tensor[starts.length];
        this.tensorOffsets = new long[starts.length];
    }

    /** Lends the slot's batch to the calling thread. */
    Lease lend(Lender lender, LeaseTerms terms, long sequence, int count) {
        Lease lease = reused;
        if (lease == null) {
            lease = new Lease(lender, this, terms);
            reused = terms.reused() ? lease : null;
        }
        lease.begin(sequence, count);
        lent = lease;
        return lease;
    }

    /** The memory from a field's start on. */
    public MemorySegment start(int field) {
        long offset = table.offset(field);
        if (starts[field] == null || startOffsets[field] != offset) {
            starts[field] = memory.asSlice(offset);
            startOffsets[field] = offset;
        }
        return starts[field];
    }

    /** A field's tensor over the slot's own memory: the one of an earlier batch, if it lies where that did. */
    public Tensor tensor(int field) {
        if (tensors[field] == null || tensorOffsets[field] != table.offset(field) || !hasShape(tensors[field], field)) {
            tensors[field] = table.tensor(field, memory);
            tensorOffsets[field] = table.offset(field);
        }
        return tensors[field];
    }

    private boolean hasShape(Tensor tensor, int field) {
        for (int d = 0; d < tensor.rank(); d++) {
            if (tensor.dim(d) != table.dim(field, d)) {
                return false;
            }
        }
        return true;
    }

    /** The slot's own memory as far as it is used. */
    public MemorySegment used(long bytes) {
        if (used == null || used.byteSize() != bytes) {
            used = memory.asSlice(0, bytes);
        }
        return used;
    }

    /** Whether the batch is closed and DLPack consumers alone keep the slot. */
    boolean isKeptByConsumers() {
        Lease lease = lent;
        return lease != null && lease.isClosed();
    }

    /** Whether the slot is out on a lease that only the calling thread can end: waiting for it would be for ever. */
    boolean isLentToCaller() {
        Lease lease = lent;
        return lease != null && lease.belongsToCaller();
    }
}
