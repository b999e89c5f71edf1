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
    /** The ring's slots, wrapped to be lent. */
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

    /** Does nothing: the bytes are already there. */
    @Override
    public void makeWait(Lease lease, DeviceStream stream) {
        // Nothing to wait for.
    }

    /** Does nothing: the bytes are already there, and a consumer of host memory names no stream. */
    @Override
    public void makeConsumerWait(Lease lease, long stream) {
        // Nothing to wait for.
    }

    /** Copies between host memory at once, after the stream's work so far has ended. */
    @Override
    public void copyToHost(Lease lease, DeviceStream stream, PinnedBuffer target) {
        stream.synchronize();
        copyToHost(lease, target.segment().asSlice(0, lease.open().slab.usedBytes()));
    }

    @Override
    public void copyToHost(Lease lease, MemorySegment target) {
        target.copyFrom(lease.holder().memory().asSlice(0, target.byteSize()));
    }

    /** Waits here for all streams of the host device that read the slot: afterwards it is free. */
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

    /** Waits for all of them, even if one has failed. */
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
