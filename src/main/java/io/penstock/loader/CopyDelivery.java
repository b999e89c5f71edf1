package io.penstock.loader;

import io.penstock.device.Device;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.EventWait;
import io.penstock.device.PinnedBuffer;
import io.penstock.loader.DeviceSlot.State;
import io.penstock.loader.events.CopyEvents;
import io.penstock.memory.SlabLayout;
import io.penstock.os.ThreadStart;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Copies each host slot to a device slot, one copy a batch, on a stream that one thread owns, while earlier batches are
 * computed on.
 *
 * <pre>
 *   submit   h = next filled host slot in order;  d = the device slot that was released first, or a free one
 *            for e in d.used: waitEvent(copyStream, e)
 *            memcpyAsync(d, h, used bytes, copyStream);  record(h.E_host, copyStream);  record(d.E_ready, copyStream)
 *   retire   when h.E_host is complete, h is free for a worker
 *   take     waitEvent(trainer's stream, d.E_ready), or wait for it on the trainer's thread
 *   release  record one E_used a stream that used d;  d is released
 * </pre>
 *
 * <p>The thread makes every CUDA call of the transfer but those that belong to the trainer's own streams. It waits by
 * parking, never in a callback. A device error ends the loader: it is kept in {@link LoaderFailure} with the batch's
 * number.
 */
final class CopyDelivery implements Delivery {

    /** How long the thread sleeps, at most, while a copy is in flight and there is nothing to submit. */
    private static final long POLL_NANOS = 20_000;

    private final Device device;
    private final SlotRing ring;
    private final DeviceSlot[] slots;
    /** The device slot of each sequence that is delivered and not yet taken, by sequence modulo their number. */
    private final int[] order;
    private final DeviceStream copyStream;
    private final DeviceEvent[] hostEvents;
    private final Opened opened = new Opened();
    private final LeaseEnd leaseEnd;
    private final LeaseMode leaseMode;
    private final LoaderFailure failure;
    /** Null if none are kept. */
    private final Accounts accounts;
    private final LongSupplier nanoTime;
    private final CopyEvents events;
    private final ConsumerNotice notice = new ConsumerNotice();
    private final Counter submitNanos = new Counter();
    private final Delivered delivered;
    private final Work work = new Work();
    private final Thread thread;

    /** Sequences that were delivered: all below it. Written by the copy thread. */
    private volatile long deliveredEnd;
    private volatile boolean halting;
    /** Guarded by the monitor: the run to read the ring for, and whether the thread is reading. */
    private Run run;
    private boolean reading;
    /** Of the copy thread, or of whoever holds the monitor while it does not read. */
    private long nextSequence;
    private long oldestInFlight;
    /** What an error of the copy thread is told with. */
    private long atSequence;

    CopyDelivery(Device device, SlotRing ring, SlabLayout layout, int batchSize, int slotCount, LeaseEnd leaseEnd,
            LeaseMode leaseMode, LoaderFailure failure, LateBatch late, Accounts accounts, LongSupplier nanoTime,
            String name) {
        this.device = device;
        this.ring = ring;
        this.leaseEnd = leaseEnd;
        this.leaseMode = leaseMode;
        this.failure = failure;
        this.accounts = accounts;
        this.delivered = new Delivered(late);
        this.nanoTime = nanoTime;
        this.slots = new DeviceSlot[slotCount];
        this.order = new int[slotCount];
        this.hostEvents = new DeviceEvent[ring.size()];
        this.events = opened.add(new CopyEvents(name, device.name(), ring.size()), CopyEvents::close);
        try {
            this.copyStream = opened.add(device.openStream(name + "-copy-stream"), DeviceStream::close);
            for (int i = 0; i < slotCount; i++) {
                slots[i] = new DeviceSlot(device, layout, batchSize, opened);
            }
            for (int i = 0; i < hostEvents.length; i++) {
                hostEvents[i] = opened.add(device.openEvent(EventWait.BLOCK), DeviceEvent::close);
            }
            this.thread = Thread.ofPlatform().name(name + "-copy-" + device.name()).daemon()
                    .uncaughtExceptionHandler((_, error) -> fail("copying", -1, error))
                    .unstarted(this::serve);
            ThreadStart.start(thread, "copies to the device");
        } catch (Throwable t) {
            opened.closeAfter(t);
            throw t;
        }
    }

    /** Open when the next batch is delivered, or never will be. */
    private final class Delivered extends SpinGate {
        private final LateBatch late;
        private long sequence;

        Delivered(LateBatch late) {
            super(TRAINER_AWAKE_NANOS, late.patienceNanos);
            this.late = late;
        }

        @Override
        void waitsLong() {
            late.tell(sequence);
        }

        @Override
        boolean isOpen() {
            return deliveredEnd > sequence || failure.isOver();
        }
    }

    /** Open when there is something to submit, or the thread is to stop. */
    private final class Work extends SpinGate {
        private Run run;

        Work() {
            super(WORKER_AWAKE_NANOS);
        }

        @Override
        boolean isOpen() {
            return run.isCancelled() || failure.isOver()
                    || ring.slot(nextSequence).isReadyWith(nextSequence) && nextFree() >= 0;
        }
    }

    // ---- the copy thread

    private void serve() {
        device.makeCurrent();
        for (Run next = join(null); next != null; next = join(next)) {
            work.run = next;
            try {
                while (!next.isCancelled() && !failure.isOver()) {
                    step();
                }
                retireAll();
            } catch (RuntimeException | Error error) {
                fail("copying", atSequence - next.base, error);
            } finally {
                leave();
            }
        }
    }

    private synchronized Run join(Run before) {
        while (run == before && !halting) {
            try {
                wait();
            } catch (InterruptedException _) {
                // Nobody may interrupt this thread: halting is how it ends.
            }
        }
        reading = !halting;
        return halting ? null : run;
    }

    private synchronized void leave() {
        reading = false;
        notifyAll();
    }

    private void step() {
        retire();
        int free = ring.slot(nextSequence).isReadyWith(nextSequence) ? nextFree() : -1;
        if (free >= 0) {
            deliver(ring.slot(nextSequence), free);
        } else if (oldestInFlight < nextSequence) {
            work.awaitNanos(POLL_NANOS);
        } else {
            work.await(false);
        }
    }

    /** Gives back the host slots whose copies are done, in order. */
    private void retire() {
        atSequence = oldestInFlight;
        while (oldestInFlight < nextSequence && hostEvent(oldestInFlight).isComplete()) {
            arrived(oldestInFlight);
            ring.release(oldestInFlight++);
            atSequence = oldestInFlight;
        }
    }

    private void arrived(long sequence) {
        if (accounts != null && accounts.keeps(sequence)) {
            accounts.arrived(sequence, nanoTime.getAsLong());
        }
        if (accounts != null) {
            events.arrived(sequence);
        }
    }

    private void retireAll() {
        while (oldestInFlight < nextSequence) {
            atSequence = oldestInFlight;
            hostEvent(oldestInFlight).synchronize();
            arrived(oldestInFlight);
            ring.release(oldestInFlight++);
        }
    }

    private DeviceEvent hostEvent(long sequence) {
        return hostEvents[(int) (sequence % hostEvents.length)];
    }

    /** The slot to copy into: a free one, or the one that was released longest ago; -1 if all are in use. */
    private int nextFree() {
        int best = -1;
        for (int i = 0; i < slots.length; i++) {
            State state = slots[i].state();
            if (state == State.FREE) {
                return i;
            }
            if (state == State.RELEASED && (best < 0 || slots[i].sequence < slots[best].sequence)) {
                best = i;
            }
        }
        return best;
    }

    private void deliver(HostSlot from, int index) {
        DeviceSlot to = slots[index];
        long begin = nanoTime.getAsLong();
        from.turnCame(nextSequence);
        if (accounts != null) {
            events.submits(nextSequence);
        }
        atSequence = nextSequence;
        to.sequence = nextSequence;
        to.failure = from.failure;
        to.holder.plan.copyFrom(from.plan);
        to.holder.table.copyFrom(from.slab.table());
        try {
            submit(from, to);
        } catch (RuntimeException | Error error) {
            to.set(State.POISONED);
            throw error;
        }
        order[(int) (nextSequence % order.length)] = index;
        to.set(State.READY);
        long end = nanoTime.getAsLong();
        if (accounts != null && accounts.keeps(nextSequence)) {
            accounts.submitted(nextSequence, begin, end);
        }
        if (accounts != null) {
            events.submitted(nextSequence, from.slab.table().usedBytes(), end - begin);
        }
        nextSequence++;
        deliveredEnd = nextSequence;
        submitNanos.add(end - begin);
        delivered.wake();
    }

    private void submit(HostSlot from, DeviceSlot to) {
        for (int i = 0; i < to.usedCount; i++) {
            copyStream.waitFor(to.used[i]);
        }
        to.usedCount = 0;
        if (from.failure == null) {
            copyStream.copyToDevice(to.buffer, 0, from.buffer, 0, from.slab.table().usedBytes());
        }
        copyStream.record(hostEvent(nextSequence));
        copyStream.record(to.ready);
    }

    /** Ends the loader: nobody waits for a slot any more, on whatever side. */
    private void fail(String doing, long batch, Throwable cause) {
        failure.set(new IllegalStateException(doing + (batch < 0 ? " a batch: " : " batch " + batch + ": ")
                + (cause.getMessage() == null ? cause : cause.getMessage()), cause));
        wake();
        ring.wakeWriters();
    }

    // ---- the trainer's thread

    @Override
    public synchronized void begin(Run next) {
        nextSequence = next.base;
        oldestInFlight = next.base;
        deliveredEnd = next.base;
        run = next;
        notifyAll();
    }

    @Override
    public long stop(long nextToTake) {
        work.wake();
        awaitStopped();
        for (long s = nextToTake; s < deliveredEnd; s++) {
            DeviceSlot dropped = slots[order[(int) (s % order.length)]];
            // The copy stream runs in order: the next copy into the slot comes behind the one that is dropped.
            dropped.set(State.FREE);
        }
        return nextSequence;
    }

    private synchronized void awaitStopped() {
        boolean interrupted = false;
        while (reading) {
            try {
                wait();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** The copy may be on its way still. */
    @Override
    public boolean isReady(Run run, long n) {
        return false;
    }

    @Override
    public Batch take(Run run, long n, DeviceStream stream) {
        long sequence = run.base + n;
        checkCanTake(run, n);
        delivered.sequence = sequence;
        if (!delivered.await(true)) {
            throw new LoaderInterruptedException(n);
        }
        if (deliveredEnd <= sequence) {
            failure.check();
        }
        DeviceSlot slot = slots[order[(int) (sequence % order.length)]];
        if (slot.failure != null) {
            BatchException cause = slot.failure;
            slot.set(State.FREE);
            work.wake();
            throw cause;
        }
        try {
            if (stream == null) {
                slot.ready.synchronize();
            } else {
                stream.waitFor(slot.ready);
            }
        } catch (DeviceException e) {
            fail("waiting for", n, e);
            failure.check();
        }
        slot.set(State.LENT);
        Batch batch = slot.holder.lend(this, leaseMode, sequence, slot.holder.plan.count());
        if (stream != null) {
            batch.addStream(stream);
        }
        return batch;
    }

    @Override
    public void checkCanTake(Run run, long n) {
        boolean kept = false;
        for (DeviceSlot slot : slots) {
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
                + slots.length + " batches: close batches, use more device slots, or use"
                + " LeaseMode.SHARED if other threads close batches");
    }

    @Override
    public void makeWait(Batch batch, DeviceStream stream) {
        stream.waitFor(slotOf(batch).ready);
    }

    @Override
    public void makeConsumerWait(Batch batch, long stream) {
        if (device.hostAccessible()) {
            slotOf(batch).ready.synchronize();
        } else {
            batch.usedOn(device.stream(stream));
        }
    }

    @Override
    public void copyToHost(Batch batch, DeviceStream stream, PinnedBuffer target) {
        stream.copyToHost(target, 0, slotOf(batch).buffer, 0, batch.byteSize());
    }

    @Override
    public void release(Batch batch) {
        DeviceSlot slot = slotOf(batch);
        if (accounts != null) {
            accounts.givenBack(batch.sequence());
        }
        try {
            for (int i = 0; i < batch.streamCount(); i++) {
                batch.stream(i).record(slot.used[i]);
            }
        } catch (RuntimeException | Error e) {
            if (e instanceof IllegalStateException && Thread.currentThread().isVirtual()) {
                throw e;
            }
            fail("closing", slot.holder.plan.number(), e);
            failure.setTold();
            letGo(batch, slot, 0, State.POISONED);
            throw e;
        }
        letGo(batch, slot, batch.streamCount(), State.RELEASED);
    }

    private static void letGo(Batch batch, DeviceSlot slot, int usedCount, State state) {
        slot.usedCount = usedCount;
        slot.afterLease = state;
        batch.released();
    }

    @Override
    public void giveBack(Batch batch, boolean inDeleter) {
        DeviceSlot slot = slotOf(batch);
        slot.holder.lent = null;
        slot.set(slot.afterLease);
        work.wake();
        leaseEnd.ended(inDeleter);
    }

    private DeviceSlot slotOf(Batch batch) {
        for (DeviceSlot slot : slots) {
            if (slot.holder == batch.holder()) {
                if (slot.sequence != batch.sequence() || slot.state() != State.LENT) {
                    throw new IllegalStateException("the lease is over: its slot holds another batch");
                }
                return slot;
            }
        }
        throw new IllegalStateException("the lease is of another loader");
    }

    @Override
    public List<BatchHolder> holders() {
        return Stream.of(slots).map(slot -> slot.holder).toList();
    }

    @Override
    public SpinGate ringReader() {
        return work;
    }

    @Override
    public long deviceBytes() {
        return slots.length * slots[0].buffer.byteSize();
    }

    @Override
    public long submitNanos() {
        return submitNanos.get();
    }

    @Override
    public void wake() {
        delivered.wake();
        work.wake();
    }

    @Override
    public void halt() {
        synchronized (this) {
            halting = true;
            notifyAll();
        }
        work.wake();
        Threads.join(List.of(thread));
    }

    /** Waits for what still runs: copies, and the trainers' work that batches were closed behind. */
    @Override
    public void close() {
        var closing = new Closing().step(copyStream::synchronize);
        for (DeviceSlot slot : slots) {
            for (int i = 0; i < slot.usedCount; i++) {
                closing.step(slot.used[i]::synchronize);
            }
        }
        closing.step(opened::close).end();
    }
}
