// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.dlpack.DLDevice;
import io.penstock.memory.Slab;
import io.penstock.memory.Tensor;
import io.penstock.sampling.BatchPlan;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The contents of a slot, on any device, as its lender lends them. */
public final class BatchHolder {

    /** The index of the slot among the slots of its kind. */
    public final int index;
    public final BatchPlan plan;
    public final Slab slab;
    /** The slab's device in DLPack's terms. */
    public final DLDevice device;
    final Lender lender;
    final LeaseTerms terms;
    /** The lease that is out: set when the batch is taken, cleared when its slot is given back. */
    volatile @Nullable Lease lent;

    /** The slab's memory, or the guarded copy that is lent in its place. */
    private MemorySegment memory;
    /** The lease for every batch in the slot, if leases are reused. */
    private @Nullable Lease reused;
    /**
     * The memory from each field's start on, so that a view is one object. Several threads may read a batch at once: a
     * segment says itself where it starts.
     */
    private final @Nullable MemorySegment[] starts;
    /** If leases are reused, each field's last tensor, its offset, and the last segment. */
    private final @Nullable Tensor[] tensors;
    private final long[] tensorOffsets;
    private @Nullable MemorySegment used;

    BatchHolder(int index, BatchPlan plan, Slab slab, DLDevice device, Lender lender, LeaseTerms terms) {
        this.index = index;
        this.plan = plan;
        this.slab = slab;
        this.device = device;
        this.lender = lender;
        this.terms = terms;
        this.memory = slab.segment();
        this.starts = new MemorySegment[slab.layout().fields().size()];
        this.tensors = new Tensor[starts.length];
        this.tensorOffsets = new long[starts.length];
    }

    /** Returns the same contents, lent by another lender. */
    public BatchHolder lentBy(Lender other) {
        var holder = new BatchHolder(index, plan, slab, device, other, terms);
        holder.memory = memory;
        return holder;
    }

    /** Whether the CPU can read the batch. */
    public boolean isReadable() {
        return device.hostAccessible();
    }

    /** Whether a batch is lent in memory of its own, which nobody can read once it is given back. */
    boolean isGuarded() {
        return GuardedMemory.IS_ON && isReadable();
    }

    /** Lends the slot's batch to the calling thread. */
    Lease lend(long sequence) {
        if (isGuarded()) {
            memory = GuardedMemory.copyOf(slab.segment(), slab.usedBytes());
            Arrays.fill(starts, null);
        }
        Lease lease = reused;
        if (lease == null) {
            lease = new Lease(this);
            reused = terms.reused() ? lease : null;
        }
        lease.begin(sequence);
        lent = lease;
        return lease;
    }

    /** Takes the batch back, when nothing holds it any more. */
    void takeBack() {
        if (isGuarded()) {
            GuardedMemory.seal(memory);
        }
        lent = null;
    }

    /** The slab's memory; a segment without bytes if the CPU cannot read it. */
    public MemorySegment memory() {
        return memory;
    }

    /** Where a field starts on the device. */
    public long address(int field) {
        return memory.address() + slab.offset(field);
    }

    public MemorySegment start(int field) {
        MemorySegment start = starts[field];
        if (start == null || start.address() != address(field)) {
            start = memory.asSlice(slab.offset(field));
            starts[field] = start;
        }
        return start;
    }

    /** A field's tensor over the slot's own memory: that of an earlier batch, if offset and shape are the same. */
    public Tensor tensor(int field) {
        Tensor tensor = tensors[field];
        if (tensor == null || tensorOffsets[field] != slab.offset(field) || !hasShape(tensor, field)) {
            tensor = slab.tensor(field);
            tensors[field] = tensor;
            tensorOffsets[field] = slab.offset(field);
        }
        return tensor;
    }

    private boolean hasShape(Tensor tensor, int field) {
        for (int d = 0; d < tensor.rank(); d++) {
            if (tensor.dim(d) != slab.dim(field, d)) {
                return false;
            }
        }
        return true;
    }

    /** The slot's own memory as far as it is used. */
    public MemorySegment used(long bytes) {
        MemorySegment segment = used;
        if (segment == null || segment.byteSize() != bytes) {
            segment = memory.asSlice(0, bytes);
            used = segment;
        }
        return segment;
    }

    /** Whether the batch is closed and DLPack consumers alone keep the slot. */
    boolean isKeptByConsumers() {
        Lease lease = lent;
        return lease != null && lease.isClosed();
    }

    /** Whether the slot is out on a lease that only the calling thread can end: waiting for it would never end. */
    boolean isLentToCaller() {
        Lease lease = lent;
        return lease != null && lease.belongsToCaller();
    }
}
