// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.dlpack.DLDevice;
import io.penstock.internal.Opened;
import io.penstock.memory.Slab;
import io.penstock.sampling.BatchPlan;
import org.jspecify.annotations.Nullable;

/**
 * One slot of device memory: what was copied of a batch, the stages' outputs behind it, a copy of the batch's plan, and
 * the events that order its reuse.
 *
 * <pre>
 *   FREE ──copy thread: copy, stages, E_ready enqueued───▶ READY ──trainer: take──▶ LENT
 *     ▲                                                                              │ close: E_used recorded,
 *     └── copy thread: the copy stream is made to wait for each E_used ── RELEASED ◀─┘        one a stream
 * </pre>
 *
 * <p>A slot whose batch is closed while DLPack tensors of it are in use stays LENT until the last of them is deleted.
 *
 * <p>A slot whose copy or stages could not be enqueued is POISONED: the device may or may not write to it, so it is not
 * used again. The volatile write of the state hands everything else over.
 */
final class DeviceSlot {

    enum State { FREE, READY, LENT, RELEASED, POISONED }

    final DeviceBuffer buffer;
    final BatchHolder holder;
    final StagedSlot staged;
    /**
     * Complete when the batch's bytes are there and the stages have run. Blocking: a trainer without a stream waits for
     * it on its thread. Of a batch that is timed, one of its own, like the first of {@link #used}.
     */
    DeviceEvent ready;
    /**
     * One for each stream that used the batch. The first {@link #usedCount} were recorded when the batch was closed.
     */
    final DeviceEvent[] used = new DeviceEvent[Lease.MAX_STREAMS];
    int usedCount;
    /** The events of the batch, if it is timed by the device's clock. */
    @Nullable TimedBatch timed;
    /** What the slot becomes when its lease ends, set when the batch is closed: RELEASED, or POISONED. */
    State afterLease = State.RELEASED;
    /** Why the batch could not be made, to be thrown at its turn; null if it was. */
    @Nullable RuntimeException failure;
    /** The sequence in the slot; a lease of an earlier one is stale. */
    long sequence = -1;

    private volatile State state = State.FREE;

    /** Allocates the slot; what it holds is closed with the rest of what was opened. */
    DeviceSlot(Device device, DeviceStages stages, int batchSize, int index, Lender lender, LeaseTerms terms,
            Opened opened) {
        buffer = opened.add(device.allocate(Math.max(1, stages.slotBytes())), DeviceBuffer::close);
        ready = opened.add(device.openEvent(EventWait.BLOCK), DeviceEvent::close);
        for (int i = 0; i < used.length; i++) {
            used[i] = opened.add(device.openEvent(EventWait.SPIN), DeviceEvent::close);
        }
        holder = device.hostAccessible()
                ? new BatchHolder(index, new BatchPlan(batchSize), new Slab(stages.batchLayout(), buffer.segment()),
                        DLDevice.CPU, lender, terms)
                : new BatchHolder(index, new BatchPlan(batchSize),
                        Slab.onDevice(stages.batchLayout(), buffer.address()), DLDevice.cuda(device.ordinal()),
                        lender, terms);
        staged = new StagedSlot(stages, buffer.address());
    }

    State state() {
        return state;
    }

    void set(State next) {
        state = next;
    }
}
