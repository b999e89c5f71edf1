// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.internal.Opened;
import io.penstock.loader.slots.DeviceSlot.State;
import org.jspecify.annotations.Nullable;

/** The device slots, and the slot of each batch that is delivered but not yet taken. */
final class DeviceSlots implements AutoCloseable {

    private final DeviceSlot[] slots;
    private final Opened opened = new Opened();
    /** The slot of each sequence that is delivered but not yet taken, indexed by the sequence modulo the length. */
    private final DeviceSlot[] order;
    /** All sequences below it are delivered. The copy thread writes it last, so a reader sees the slot's contents. */
    private volatile long deliveredEnd;

    DeviceSlots(Device device, DeviceStages stages, int batchSize, int count, Lender lender, LeaseTerms terms) {
        slots = new DeviceSlot[count];
        order = new DeviceSlot[count];
        try {
            for (int i = 0; i < count; i++) {
                slots[i] = new DeviceSlot(device, stages, batchSize, i, lender, terms, opened);
            }
        } catch (Throwable t) {
            opened.closeAfter(t);
            throw t;
        }
    }

    /** Returns a slot to copy into: a free one, else the one with the oldest batch; null if all are in use. */
    @Nullable DeviceSlot nextFree() {
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

    /** Returns a slot with a closed batch; null if there is none. */
    @Nullable DeviceSlot released() {
        for (DeviceSlot slot : slots) {
            if (slot.state() == State.RELEASED) {
                return slot;
            }
        }
        return null;
    }

    /** Starts at a sequence, with nothing delivered. Called only while the copy thread is stopped. */
    void beginAt(long sequence) {
        deliveredEnd = sequence;
    }

    /** Delivers the next sequence. */
    void deliver(long sequence, DeviceSlot slot) {
        order[(int) (sequence % order.length)] = slot;
        slot.set(State.READY);
        deliveredEnd = sequence + 1;
    }

    boolean isDelivered(long sequence) {
        return deliveredEnd > sequence;
    }

    /** Returns the slot of a sequence that is delivered but not yet taken. */
    DeviceSlot at(long sequence) {
        return order[(int) (sequence % order.length)];
    }

    /** Frees the slots of all delivered sequences from one on. Called only while the copy thread is stopped. */
    void dropFrom(long sequence) {
        for (long s = sequence; s < deliveredEnd; s++) {
            // The copy stream runs in order: the next copy into the slot comes behind the one that is dropped.
            at(s).set(State.FREE);
        }
    }

    /** Returns the slot of a lent batch. */
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

    /** Returns all slots, in no particular order. */
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
