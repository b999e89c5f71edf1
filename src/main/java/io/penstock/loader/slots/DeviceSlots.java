package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.loader.slots.DeviceSlot.State;

/** The slots of device memory, and which of them the batches are in that were delivered and not yet taken. */
final class DeviceSlots implements AutoCloseable {

    private final DeviceSlot[] slots;
    private final Opened opened = new Opened();
    /** The slot of each sequence that is delivered and not yet taken, by sequence modulo their number. */
    private final DeviceSlot[] order;
    /** Sequences that were delivered: all below it. Written by the copy thread; hands over what it wrote before. */
    private volatile long deliveredEnd;

    DeviceSlots(Device device, DeviceStages stages, int batchSize, int count) {
        slots = new DeviceSlot[count];
        order = new DeviceSlot[count];
        try {
            for (int i = 0; i < count; i++) {
                slots[i] = new DeviceSlot(device, stages, batchSize, i, opened);
            }
        } catch (Throwable t) {
            opened.closeAfter(t);
            throw t;
        }
    }

    /** The slot to copy into: a free one, or the one that was released longest ago; null if all are in use. */
    DeviceSlot nextFree() {
        DeviceSlot best = null;
        for (DeviceSlot slot : slots) {
            State state = slot.state();
            if (state == State.FREE) {
                return slot;
            }
            if (state == State.RELEASED && (best == null || slot.sequence < best.sequence)) {
                best = slot;
            }
        }
        return best;
    }

    /** Nothing is delivered, and a sequence is the first that will be. Only while the copy thread stands still. */
    void beginAt(long sequence) {
        deliveredEnd = sequence;
    }

    /** The next sequence is in a slot. */
    void deliver(long sequence, DeviceSlot slot) {
        order[(int) (sequence % order.length)] = slot;
        slot.set(State.READY);
        deliveredEnd = sequence + 1;
    }

    boolean isDelivered(long sequence) {
        return deliveredEnd > sequence;
    }

    /** The slot of a sequence that was delivered and not yet taken. */
    DeviceSlot at(long sequence) {
        return order[(int) (sequence % order.length)];
    }

    /** Frees the slots of what was delivered from a sequence on. Only while the copy thread stands still. */
    void dropFrom(long sequence) {
        for (long s = sequence; s < deliveredEnd; s++) {
            // The copy stream runs in order: the next copy into the slot comes behind the one that is dropped.
            at(s).set(State.FREE);
        }
    }

    /** The slot of a batch that is out. */
    DeviceSlot of(Lease lease) {
        DeviceSlot slot = slots[lease.holder().index];
        if (slot.holder != lease.holder()) {
            throw new IllegalStateException("the lease is of another loader");
        }
        if (slot.sequence != lease.sequence() || slot.state() != State.LENT) {
            throw new IllegalStateException("the lease is over: its slot holds another batch");
        }
        return slot;
    }

    /** The slots in no order that matters. */
    DeviceSlot[] all() {
        return slots;
    }

    long byteSize() {
        return slots.length * slots[0].buffer.byteSize();
    }

    @Override
    public void close() {
        opened.close();
    }
}
