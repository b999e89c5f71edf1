// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.telemetry.LoaderReport;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reports to the JDK's flight recorder. An event begins and ends on its own thread and uses the recorder's clock. Event
 * objects are created when a recording first wants them, and reused for every batch. Without a recording, nothing is on
 * the heap and no JFR class is loaded.
 */
final class FlightProbe implements LoaderProbe, AutoCloseable {

    private final String loader;
    private final SlotLevels slots;
    private final FillEvents[] fills;
    private final CopyEvents copies;
    private final TakeEvents takes;
    private final QueueProbe queue;
    /** One per slot, null until needed; handed over together with the slot. */
    private final @Nullable OrderWait[] orderWaits;

    FlightProbe(LoaderIdentity of, SlotLevels slots, AccountBook accounts, Supplier<LoaderReport> report) {
        this.loader = of.name();
        this.slots = slots;
        this.fills = new FillEvents[of.fillers()];
        Arrays.setAll(fills, _ -> new FillEvents(loader));
        this.orderWaits = new OrderWait[slots.size()];
        this.copies = new CopyEvents(loader, of.device(), of.copies() ? slots.size() : 0);
        this.queue = new QueueProbe(loader, slots, report);
        this.takes = new TakeEvents(loader, slots, accounts, queue::open);
    }

    @Override
    public void awaitsSlot(int worker) {
        fills[worker].awaitsSlot();
    }

    @Override
    public void claimed(Filling batch) {
        fills[batch.worker].claimed(batch);
    }

    @Override
    public void planned(Filling batch) {
        fills[batch.worker].planned();
    }

    @Override
    public void filled(Filling batch) {
        fills[batch.worker].filled(batch);
        if (batch.sequence > 0 && Recorder.isUsed() && !slots.isMadeWith(batch.sequence - 1)) {
            int slot = slot(batch.sequence);
            OrderWait wait = orderWaits[slot] == null ? new OrderWait(loader) : orderWaits[slot];
            orderWaits[slot] = wait;
            wait.begin();
        }
    }

    private int slot(long sequence) {
        return (int) (sequence % orderWaits.length);
    }

    @Override
    public void reached(long sequence) {
        OrderWait wait = orderWaits[slot(sequence)];
        if (wait != null) {
            wait.end(sequence);
        }
        if (copies.areMade()) {
            copies.reached(sequence);
        }
    }

    @Override
    public void submitted(long sequence, long bytes, long beginAt, long endAt) {
        copies.submitted(sequence, bytes, endAt - beginAt);
    }

    @Override
    public void arrived(long sequence) {
        copies.arrived(sequence);
    }

    @Override
    public void requested(long sequence, EpochBounds epochs) {
        takes.requested(sequence, epochs);
    }

    @Override
    public void taken(long sequence, long requestedAt, long takenAt, int samples, int replaced) {
        takes.taken(sequence);
    }

    @Override
    public void notTaken(long waitNanos) {
        takes.notTaken();
    }

    @Override
    public void closed(long sequence) {
        takes.closed(sequence);
    }

    @Override
    public void close() {
        takes.close();
        queue.close();
    }
}
