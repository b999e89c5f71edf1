// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.device.internal.DeviceThread;
import io.penstock.error.LimitException;
import io.penstock.internal.Closing;
import io.penstock.internal.Opened;
import io.penstock.loader.slots.DeviceSlot.State;
import io.penstock.telemetry.Phase;
import io.penstock.telemetry.recording.LoaderProbe;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Lends device slots, to which a {@linkplain CopyThread thread} copies each host slot, one copy per batch, on a stream
 * that it owns, while earlier batches are computed on; the stages run there behind the copy. The trainer's side of the
 * transfer:
 *
 * <pre>
 *   lend     waitEvent(trainer's stream, d.E_ready), or wait for it on the trainer's thread
 *   release  record one E_used a stream that used d;  d is released
 * </pre>
 *
 * <p>A device error ends the loader: it is kept in {@link LoaderFailure} with the batch's number.
 */
public final class CopyDelivery implements Delivery {

    private final Device device;
    private final DeviceSlots slots;
    private final DeviceStream copyStream;
    private final CopyThread copier;
    private final DeviceStages stages;
    private final Opened opened = new Opened();
    private final Leases leases;
    private final LoaderFailure failure;
    private final LoaderProbe probe;
    private final ConsumerNotice notice = new ConsumerNotice();
    private final TrainerGate delivered;
    /** Recorded by the stream that asks for the next batch; null if batches are not timed. For the trainer's thread. */
    private @Nullable DeviceEvent asked;
    /** The events of the batch that was taken last, if a stream took it and it is timed. For the trainer's thread. */
    private @Nullable TimedBatch taken;
    /** The number of that batch. */
    private long takenNumber;

    /**
     * Allocates the device slots and starts the copy thread. The stages are enqueued behind each copy, and closed here
     * once nothing of them runs, also if this fails.
     */
    public CopyDelivery(Device device, SlotRing ring, DeviceStages stages, int batchSize, int slotCount, Leases leases,
            LeaseTerms terms, LoaderFailure failure, LateBatch late, LoaderProbe probe, LongSupplier nanoTime,
            String name, boolean timed) {
        this.device = device;
        this.stages = stages;
        this.leases = leases;
        this.failure = failure;
        this.probe = probe;
        try {
            this.copyStream = opened.add(device.openStream(name + "-copy-stream"), DeviceStream::close);
            this.slots = opened.add(new DeviceSlots(device, stages, batchSize, slotCount, this, terms),
                    DeviceSlots::close);
            this.asked = timed ? opened.add(device.openTimedEvent(EventWait.SPIN), DeviceEvent::close) : null;
            this.delivered = new TrainerGate(slots::isDelivered, failure, late);
            this.copier = new CopyThread(device, ring, slots, copyStream, stages, delivered, failure, probe, nanoTime,
                    name, timed, opened);
        } catch (Throwable t) {
            opened.closeAfter(t);
            throw t;
        }
    }

    @Override
    public void begin(Run next) {
        copier.begin(next);
    }

    @Override
    public long stop(long nextToTake) {
        long next = copier.stop();
        slots.dropFrom(nextToTake);
        return next;
    }

    /** Cannot be told: the copy may still be running. */
    @Override
    public boolean isReady(long sequence) {
        return false;
    }

    @Override
    public void ask(long n, DeviceStream stream) {
        if (asked != null) {
            try {
                stream.record(asked);
            } catch (DeviceException e) {
                copier.fail("asking for", n, e);
                failure.check();
            }
        }
    }

    @Override
    public boolean await(Run run, long n) {
        checkCanTake(run, n);
        delivered.waitFor(run.base + n);
        return delivered.await(true);
    }

    @Override
    public Lease lend(Run run, long n, @Nullable DeviceStream stream) {
        long sequence = run.base + n;
        if (!slots.isDelivered(sequence)) {
            failure.check();
        }
        DeviceSlot slot = slots.at(sequence);
        if (slot.failure != null) {
            RuntimeException cause = slot.failure;
            slot.set(State.FREE);
            copier.gate().wake();
            throw new NotMadeException(cause);
        }
        taken = null;
        try {
            if (stream == null || slot.holder.isGuarded()) {
                slot.ready.synchronize();
            } else {
                stream.waitFor(slot.ready);
                if (slot.timed != null && asked != null) {
                    asked = slot.timed.askedBy(stream, asked);
                    taken = slot.timed;
                    takenNumber = n;
                }
            }
        } catch (DeviceException e) {
            copier.fail("waiting for", n, e);
            failure.check();
        }
        slot.set(State.LENT);
        Lease lease = slot.holder.lend(sequence);
        if (stream != null) {
            lease.addStream(stream);
        }
        return lease;
    }

    /** Marks on the trainer's stream that a phase of the batch that was taken last begins; null: that one ends. */
    public void mark(long sequence, @Nullable Phase phase) {
        if (taken != null) {
            try {
                taken.mark(sequence, phase);
            } catch (DeviceException e) {
                copier.fail("marking a phase of", takenNumber, e);
                failure.check();
            }
        }
    }

    @Override
    public void checkCanTake(Run run, long n) {
        boolean kept = false;
        for (DeviceSlot slot : slots.all()) {
            if (slot.holder.isKeptByConsumers()) {
                kept = true;
            } else if (slot.state() != State.POISONED && !slot.holder.isLentToCaller()) {
                return;
            }
        }
        if (kept) {
            notice.give(n);
            return;
        }
        throw new IllegalStateException("batch " + n + " needs a device slot, but this thread has closed none of its "
                + slots.all().length + " batches: close batches, use more device slots, or use"
                + " LeaseMode.SHARED if other threads close batches");
    }

    @Override
    public void makeWait(Lease lease, DeviceStream stream) {
        stream.waitFor(slots.of(lease).ready);
    }

    @Override
    public void makeConsumerWait(Lease lease, long stream) {
        if (device.hostAccessible()) {
            slots.of(lease).ready.synchronize();
        } else {
            lease.usedOn(device.stream(stream));
        }
    }

    @Override
    public void copyToHost(Lease lease, DeviceStream stream, PinnedBuffer target) {
        stream.copyToHost(target, 0, slots.of(lease).buffer, 0, lease.open().slab.usedBytes());
    }

    @Override
    public void copyToHost(Lease lease, MemorySegment target) {
        DeviceSlot slot = slots.of(lease);
        if (slot.holder.isReadable()) {
            slot.ready.synchronize();
            target.copyFrom(slot.holder.memory().asSlice(0, target.byteSize()));
            return;
        }
        try (PinnedBuffer pinned = device.allocatePinned(Math.max(1, target.byteSize()));
                DeviceStream stream = device.openStream("copy to host")) {    // closed first, which waits for the copy
            stream.waitFor(slot.ready);
            stream.copyToHost(pinned, 0, slot.buffer, 0, target.byteSize());
            stream.synchronize();
            target.copyFrom(pinned.segment().asSlice(0, target.byteSize()));
        }
    }

    @Override
    public void release(Lease lease) {
        DeviceSlot slot = slots.of(lease);
        probe.closed(lease.sequence());
        if (slot.timed != null) {
            slot.timed.endMarks();
        }
        try {
            for (int i = 0; i < lease.streamCount(); i++) {
                lease.stream(i).record(slot.used[i]);
                if (slot.holder.isGuarded()) {
                    slot.used[i].synchronize();         // memory that is sealed must not be read any more
                }
            }
        } catch (RuntimeException | Error e) {
            if (e instanceof IllegalStateException && Thread.currentThread().isVirtual()
                    && !device.hostAccessible()) {
                throw e;
            }
            copier.fail("closing", slot.holder.plan.number(), e);
            failure.setTold();
            letGo(lease, slot, 0, State.POISONED);
            throw e;
        }
        letGo(lease, slot, lease.streamCount(), State.RELEASED);
    }

    private static void letGo(Lease lease, DeviceSlot slot, int usedCount, State state) {
        slot.usedCount = usedCount;
        slot.afterLease = state;
        lease.released();
    }

    @Override
    public void giveBack(Lease lease, boolean inDeleter) {
        DeviceSlot slot = slots.of(lease);
        slot.holder.takeBack();
        slot.set(slot.afterLease);
        copier.gate().wake();
        leases.ended(inDeleter);
    }

    @Override
    public List<BatchHolder> holders() {
        return Stream.of(slots.all()).map(slot -> slot.holder).toList();
    }

    @Override
    public SpinGate ringReader() {
        return copier.gate();
    }

    @Override
    public long deviceBytes() {
        return slots.byteSize();
    }

    @Override
    public void wake() {
        delivered.wake();
        copier.gate().wake();
    }

    @Override
    public void halt() {
        copier.halt();
    }

    /**
     * Waits for what still runs: copies, stages, and the trainers' work that batches were closed behind. The thread
     * that closes may have no current device; CUDA would start a context on device 0 for it.
     */
    @Override
    public void close() {
        new Closing().step(() -> {
            try {
                DeviceThread.run(device, "close", this::waitForAll);
            } catch (LimitException _) {
                waitForAll();               // memory in use must not be freed
            }
        }).step(stages::close).step(opened::close).end();
    }

    private void waitForAll() {
        var waits = new Closing().step(waiting(copyStream::synchronize));
        for (DeviceSlot slot : slots.all()) {
            for (int i = 0; i < slot.usedCount; i++) {
                waits.step(waiting(slot.used[i]::synchronize));
            }
        }
        waits.end();
    }

    /** Waits once more after an error, such as a capture's on another thread: memory in use must not be freed. */
    private static Runnable waiting(Runnable wait) {
        return () -> {
            try {
                wait.run();
            } catch (DeviceException e) {
                try {
                    wait.run();
                } catch (DeviceException again) {
                    e.addSuppressed(again);
                }
                throw e;
            }
        };
    }
}
