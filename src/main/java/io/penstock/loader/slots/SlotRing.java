// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.device.PinnedBuffer;
import io.penstock.internal.Opened;
import io.penstock.memory.SlabLayout;
import io.penstock.telemetry.recording.Telemetry.SlotLevels;

/**
 * The ring of host slots. It wakes the reader when a slot is published, and when one is released the worker that waits
 * for it: to wake one of eight threads that are parked takes the reader some microseconds.
 */
public final class SlotRing implements SlotLevels, AutoCloseable {

    private final HostSlot[] slots;
    private final Opened opened = new Opened();
    private SpinGate reader;
    private SpinGate[] writers = {};

    @SuppressWarnings("NullAway.Init") // connect() names the reader before any thread starts
    public SlotRing(Device device, SlabLayout layout, int batchSize, int count) {
        slots = new HostSlot[count];
        try {
            for (int i = 0; i < count; i++) {
                long bytes = Math.max(1, layout.capacityBytes());
                PinnedBuffer buffer = opened.add(device.allocatePinned(bytes), PinnedBuffer::close);
                slots[i] = new HostSlot(buffer, layout, batchSize, i);
            }
        } catch (Throwable t) {
            opened.closeAfter(t);
            throw t;
        }
    }

    /** Sets whom to wake. Called once, before any thread starts. */
    public void connect(SpinGate reader, SpinGate[] writers) {
        this.reader = reader;
        this.writers = writers;
    }

    @Override
    public int size() {
        return slots.length;
    }

    public HostSlot slot(long sequence) {
        return slots[(int) (sequence % slots.length)];
    }

    /** Returns the slots, in no particular order. */
    HostSlot[] slots() {
        return slots;
    }

    @Override
    public int madeFrom(long sequence) {
        int made = 0;
        for (long s = sequence; s < sequence + slots.length; s++) {
            made += slot(s).isMadeWith(s) ? 1 : 0;
        }
        return made;
    }

    @Override
    public int empty() {
        int empty = 0;
        for (HostSlot slot : slots) {
            empty += slot.isEmpty() ? 1 : 0;
        }
        return empty;
    }

    @Override
    public boolean isMadeWith(long sequence) {
        return slot(sequence).isMadeWith(sequence);
    }

    /** Publishes a complete batch: the worker's last step. */
    public void publish(long sequence) {
        slot(sequence).setReadyWith(sequence);
        reader.wake();
    }

    /** Releases a slot that nobody reads any more: the reader's last step. */
    void release(long sequence) {
        long next = sequence + slots.length;
        slot(sequence).setFreeFor(next);
        for (SpinGate writer : writers) {
            writer.wakeFor(next);
        }
    }

    /** Wakes all workers: the loader has failed. */
    public void wakeWriters() {
        for (SpinGate writer : writers) {
            writer.wake();
        }
    }

    /** Withdraws what was published from a sequence on and not read. Called only while no worker fills. */
    public void unpublishFrom(long sequence) {
        for (long s = sequence; s < sequence + slots.length; s++) {
            if (slot(s).isReadyWith(s)) {
                slot(s).setFreeFor(s);
            }
        }
    }

    @Override
    public void close() {
        opened.close();
    }
}
