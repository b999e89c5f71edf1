// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.dlpack.DLDevice;
import io.penstock.telemetry.recording.LoaderProbe;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Lends the host slots themselves: where the device is the host, a copy would be useless. */
public final class InPlaceDelivery implements Delivery {

    private final SlotRing ring;
    private final Leases leases;
    /** The slots of the ring, as they are lent. */
    private final List<BatchHolder> holders;
    private final LoaderFailure failure;
    private final LoaderProbe probe;
    private final ConsumerNotice notice = new ConsumerNotice();
    private final TrainerGate filled;

    public InPlaceDelivery(SlotRing ring, Leases leases, LeaseTerms terms, LoaderFailure failure, LateBatch late,
            LoaderProbe probe) {
        this.ring = ring;
        this.leases = leases;
        this.holders = Stream.of(ring.slots())
                .map(slot -> new BatchHolder(slot.index, slot.plan, slot.slab, DLDevice.CPU, this, terms)).toList();
        this.failure = failure;
        this.probe = probe;
        this.filled = new TrainerGate(this::isReady, failure, late);
    }

    @Override
    public void begin(Run run) {
        // The ring is all there is.
    }

    @Override
    public long stop(long nextToTake) {
        return nextToTake;
    }

    @Override
    public boolean isReady(long sequence) {
        return ring.slot(sequence).isReadyWith(sequence);
    }

    @Override
    public boolean await(Run run, long n) {
        checkCanTake(run, n);
        filled.waitFor(run.base + n);
        return filled.await(true);
    }

    @Override
    public Lease lend(Run run, long n, @Nullable DeviceStream stream) {
        long sequence = run.base + n;
        HostSlot slot = ring.slot(sequence);
        if (!slot.isReadyWith(sequence)) {
            failure.check();
        }
        probe.reached(sequence);
        if (slot.failure != null) {
            RuntimeException cause = slot.failure;
            ring.release(sequence);
            throw new NotMadeException(cause);
        }
        Lease lease = holders.get(slot.index).lend(sequence);
        if (stream != null) {
            lease.addStream(stream);
        }
        return lease;
    }

    @Override
    public void checkCanTake(Run run, long n) {
        BatchHolder holder = holders.get(ring.slot(run.base + n).index);
        if (holder.isLentToCaller()) {
            throw new IllegalStateException("batch " + n + " needs the slot of " + holder.lent
                    + ", which this thread has not closed: close batches, or prefetch more (there are "
                    + ring.size() + " slots)");
        }
        if (holder.isKeptByConsumers()) {
            notice.give(n);
        }
    }

    /** The bytes are there. */
    @Override
    public void makeWait(Lease lease, DeviceStream stream) {
        // Nothing to wait for.
    }

    /** The bytes are there, and no stream of a consumer's is known here. */
    @Override
    public void makeConsumerWait(Lease lease, long stream) {
        // Nothing to wait for.
    }

    /** Host memory to host memory: done at once, when the stream has come so far. */
    @Override
    public void copyToHost(Lease lease, DeviceStream stream, PinnedBuffer target) {
        stream.synchronize();
        copyToHost(lease, target.segment().asSlice(0, lease.open().slab.usedBytes()));
    }

    @Override
    public void copyToHost(Lease lease, MemorySegment target) {
        target.copyFrom(lease.holder().memory().asSlice(0, target.byteSize()));
    }

    /** The slot is host memory: it is free when no stream of the host device reads it, which is waited for here. */
    @Override
    public void release(Lease lease) {
        probe.closed(lease.sequence());
        try {
            synchronizeStreams(lease, 0);
        } finally {
            lease.released();
        }
    }

    @Override
    public void giveBack(Lease lease, boolean inDeleter) {
        lease.holder().takeBack();
        ring.release(lease.sequence());
        leases.ended(inDeleter);
    }

    /** All of them, also when one has failed. */
    private static void synchronizeStreams(Lease lease, int from) {
        if (from < lease.streamCount()) {
            try {
                lease.stream(from).synchronize();
            } finally {
                synchronizeStreams(lease, from + 1);
            }
        }
    }

    @Override
    public List<BatchHolder> holders() {
        return holders;
    }

    @Override
    public SpinGate ringReader() {
        return filled;
    }

    @Override
    public long deviceBytes() {
        return 0;
    }

    @Override
    public void wake() {
        filled.wake();
    }

    @Override
    public void halt() {
        // No thread of its own.
    }

    @Override
    public void close() {
        // No memory of its own.
    }
}
