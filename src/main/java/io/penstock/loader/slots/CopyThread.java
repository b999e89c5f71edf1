// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.internal.Opened;
import io.penstock.loader.slots.DeviceSlot.State;
import io.penstock.os.ThreadStart;
import io.penstock.os.Uninterrupted;
import io.penstock.telemetry.recording.LoaderProbe;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The thread that copies host slots to device slots, in order, enqueues the stages behind each copy, and makes every
 * CUDA call of the transfer but those that belong to the trainer's own streams. It waits by parking, never in a
 * callback.
 *
 * <pre>
 *   submit   h = next filled host slot in order;  d = the device slot that was released first, or a free one
 *            for e in d.used: waitEvent(copyStream, e)
 *            memcpyAsync(d, h, used bytes, copyStream);  record(h.E_host, copyStream)
 *            for s in stages: s.enqueue(copyStream);  record(d.E_ready, copyStream)
 *   retire   when h.E_host is complete, h is free for a worker; if a stage reads h, when E_read behind it is.
 *            Looked for when there is nothing to submit, or when a quarter of the host slots is in flight
 * </pre>
 *
 * <p>The monitor here guards the change from one run to the next; while a run goes on nobody takes it.
 */
final class CopyThread {

    /** The longest sleep while a copy is in flight and there is nothing to submit. */
    private static final long POLL_NANOS = 20_000;
    /**
     * The first looks at a copy in flight, while the thread stays awake: a copy of less than some MiB has arrived by
     * then, and a thread that slept would leave the bus idle.
     */
    private static final int LOOKS_AWAKE = 24;
    private static final long LOOK_NANOS = 4_000;

    private final Device device;
    private final SlotRing ring;
    private final DeviceSlots slots;
    private final DeviceStream copyStream;
    private final DeviceStages stages;
    /** One per host slot. */
    private final DeviceEvent[] hostEvents;
    /**
     * One per host slot: recorded after the stages if one of them reads the slot, else the same as the events of the
     * copies.
     */
    private final DeviceEvent[] readEvents;
    private final SpinGate delivered;
    private final LoaderFailure failure;
    private final LoaderProbe probe;
    private final LongSupplier nanoTime;
    private final Work work = new Work();
    private final @Nullable DeviceClock clock;
    /** What overwrites the memory of closed batches, if it is guarded and the CPU cannot reach it. */
    private final @Nullable PinnedBuffer poison;
    /** How many copies may be in flight before the oldest is looked at while there is more to submit. */
    private final int unseenCopies;
    private final Thread thread;

    private volatile boolean halting;
    /** The run whose batches the thread copies, and whether it does now. Guarded by the monitor. */
    private @Nullable Run run;
    private boolean reading;
    /** Written by the copy thread; while it is stopped, by the thread that holds the monitor. */
    private long nextSequence;
    private long oldestInFlight;
    /** Looks at the copies in flight since something was submitted or had arrived. */
    private int looks;
    /** The sequence that an error message names. */
    private long atSequence;

    /**
     * Starts the thread, which waits for a run.
     *
     * @param copyStream the stream that it alone uses
     * @param delivered where the trainer's thread waits
     * @param timed whether the device's clock is read
     * @param opened closes the events when copies are over
     */
    CopyThread(Device device, SlotRing ring, DeviceSlots slots, DeviceStream copyStream, DeviceStages stages,
            SpinGate delivered, LoaderFailure failure, LoaderProbe probe, LongSupplier nanoTime, String name,
            boolean timed, Opened opened) {
        this.device = device;
        this.ring = ring;
        this.slots = slots;
        this.copyStream = copyStream;
        this.stages = stages;
        this.delivered = delivered;
        this.failure = failure;
        this.probe = probe;
        this.nanoTime = nanoTime;
        this.hostEvents = openEvents(opened);
        this.readEvents = stages.readHost() ? openEvents(opened) : hostEvents;
        this.clock = timed ? new DeviceClock(device, ring.size(), slots.all().length, probe, opened) : null;
        this.poison = GuardedMemory.IS_ON && !device.hostAccessible()
                ? opened.add(GuardedMemory.poison(device, stages.slotBytes()), PinnedBuffer::close) : null;
        this.unseenCopies = ring.size() / 4;
        this.thread = Thread.ofPlatform().name(name + "-copy-" + device.name()).daemon()
                .uncaughtExceptionHandler((_, error) -> fail("copying", -1, error))
                .unstarted(this::serve);
        ThreadStart.start(thread, "copies to the device");
    }

    private DeviceEvent[] openEvents(Opened opened) {
        DeviceEvent[] events = new DeviceEvent[ring.size()];
        for (int i = 0; i < events.length; i++) {
            events[i] = opened.add(device.openEvent(EventWait.BLOCK), DeviceEvent::close);
        }
        return events;
    }

    /** Open when there is something to submit, or the thread is to stop. */
    private final class Work extends SpinGate {
        private @Nullable Run run;

        Work() {
            super(WORKER_AWAKE_NANOS);
        }

        @Override
        protected boolean isOpen() {
            return run == null || run.isCancelled() || failure.isOver()
                    || ring.slot(nextSequence).isReadyWith(nextSequence) && slots.nextFree() != null
                    || poison != null && slots.released() != null;
        }
    }

    // ---- the thread

    private void serve() {
        device.dedicateThread();
        for (Run next = join(null); next != null; next = join(next)) {
            work.run = next;
            try {
                while (!next.isCancelled() && !failure.isOver()) {
                    step();
                }
                retireAll();
            } catch (RuntimeException | Error error) {
                fail(stages.doing(), atSequence - next.base, error);
            } finally {
                leave();
            }
        }
    }

    private synchronized @Nullable Run join(@Nullable Run before) {
        while (run == before && !halting) {
            Uninterrupted.await(this);                  // halting is how this thread ends
        }
        reading = !halting;
        return halting ? null : run;
    }

    private synchronized void leave() {
        reading = false;
        notifyAll();
    }

    private void step() {
        if (poison != null) {
            poisonReleased(poison);
        }
        DeviceSlot free = ring.slot(nextSequence).isReadyWith(nextSequence) ? slots.nextFree() : null;
        if (free == null || nextSequence - oldestInFlight > unseenCopies) {
            retire();
        }
        if (free != null) {
            deliver(ring.slot(nextSequence), free);
            looks = 0;
        } else if (oldestInFlight == nextSequence) {
            work.await(false);
        } else if (looks < LOOKS_AWAKE) {
            looks++;
            work.awaitAwake(LOOK_NANOS);
        } else {
            work.awaitNanos(POLL_NANOS);
        }
    }

    /** Overwrites closed batches behind the streams that used them, so that whoever reads one later sees no other. */
    private void poisonReleased(PinnedBuffer bytes) {
        for (DeviceSlot slot = slots.released(); slot != null; slot = slots.released()) {
            waitForReaders(slot);
            copyStream.copyToDevice(slot.buffer, 0, bytes, 0, slot.buffer.byteSize());
            slot.set(State.FREE);
        }
    }

    /** Releases the host slots whose copies have completed, in order. */
    private void retire() {
        atSequence = oldestInFlight;
        while (oldestInFlight < nextSequence && readEvent(oldestInFlight).isComplete()) {
            retireOldest();
            atSequence = oldestInFlight;
        }
    }

    private void retireAll() {
        while (oldestInFlight < nextSequence) {
            atSequence = oldestInFlight;
            readEvent(oldestInFlight).synchronize();
            retireOldest();
        }
    }

    private void retireOldest() {
        long retired = oldestInFlight++;
        looks = 0;
        probe.arrived(retired);
        ring.release(retired);
        if (clock != null) {
            clock.copied(retired);
        }
    }

    private DeviceEvent hostEvent(long sequence) {
        return hostEvents[(int) (sequence % hostEvents.length)];
    }

    private DeviceEvent readEvent(long sequence) {
        return readEvents[(int) (sequence % readEvents.length)];
    }

    private void deliver(HostSlot from, DeviceSlot to) {
        long begin = nanoTime.getAsLong();
        probe.reached(nextSequence);
        atSequence = nextSequence;
        to.sequence = nextSequence;
        to.failure = from.failure;
        to.holder.plan.copyFrom(from.plan);
        try {
            submit(to);
        } catch (RuntimeException | Error error) {
            to.set(State.POISONED);
            throw error;
        }
        probe.submitted(nextSequence, from.slab.usedBytes(), begin, nanoTime.getAsLong());
        slots.deliver(nextSequence++, to);
        delivered.wake();
    }

    /**
     * Enqueues a batch. The host slot is free after its copy, or after the stages if one reads it; the device slot is
     * ready after the stages.
     */
    private void submit(DeviceSlot to) {
        waitForReaders(to);
        if (clock != null) {
            time(clock.begin(to));
        }
        copy(to);
        runStages(to);
        markReady(to);
    }

    /** Makes the copy wait until the streams that used the previous batch in this slot have finished. */
    private void waitForReaders(DeviceSlot to) {
        for (int i = 0; i < to.usedCount; i++) {
            copyStream.waitFor(to.used[i]);
        }
        to.usedCount = 0;
    }

    /** Takes a batch's own events for those of the protocol, and marks where its copy begins. */
    private void time(TimedBatch batch) {
        hostEvents[(int) (batch.sequence % hostEvents.length)] = batch.copied;
        copyStream.record(batch.begin);
    }

    private void copy(DeviceSlot to) {
        HostSlot from = ring.slot(to.sequence);
        if (to.failure == null) {
            copyStream.copyToDevice(to.buffer, 0, from.buffer, 0, from.slab.usedBytes());
        }
        copyStream.record(hostEvent(to.sequence));
    }

    private void runStages(DeviceSlot to) {
        if (to.failure == null) {
            to.staged.enqueue(copyStream, ring.slot(to.sequence).slab, to.holder.plan.count(), to.holder.slab);
        }
        if (readEvents != hostEvents) {
            copyStream.record(readEvent(to.sequence));
        }
    }

    private void markReady(DeviceSlot to) {
        copyStream.record(to.ready);
    }

    // ---- other threads

    /** Records the failure and wakes every thread that waits for a slot. */
    void fail(String doing, long batch, Throwable cause) {
        failure.set(new IllegalStateException(doing + (batch < 0 ? " a batch: " : " batch " + batch + ": ")
                + (cause.getMessage() == null ? cause : cause.getMessage()), cause));
        delivered.wake();
        work.wake();
        ring.wakeWriters();
    }

    /** Returns the gate at which this thread waits. */
    SpinGate gate() {
        return work;
    }

    synchronized void begin(Run next) {
        nextSequence = next.base;
        oldestInFlight = next.base;
        slots.beginAt(next.base);
        run = next;
        notifyAll();
    }

    /** Waits until the thread has left the cancelled run. Returns the sequence that it would have copied next. */
    synchronized long stop() {
        work.wake();
        boolean interrupted = false;
        while (reading) {
            interrupted |= Uninterrupted.await(this);
        }
        Uninterrupted.restore(interrupted);
        return nextSequence;
    }

    /** Ends the thread and waits for the copies in flight. Calling it again does nothing. */
    void halt() {
        synchronized (this) {
            halting = true;
            notifyAll();
        }
        work.wake();
        Uninterrupted.join(thread);
    }
}
