package io.penstock.telemetry;

import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;

/** Reports a loader's fill level periodically, once a recording has started. */
final class QueueProbe implements AutoCloseable {

    private final String loader;
    private final SlotLevels slots;
    private final Supplier<LoaderReport> report;
    private final Runnable look = this::look;
    private LoaderReport before;
    private boolean opened;

    QueueProbe(String loader, SlotLevels slots, Supplier<LoaderReport> report) {
        this.loader = loader;
        this.slots = slots;
        this.report = report;
    }

    /** Starts reporting. */
    synchronized void open() {
        opened = true;
        before = report.get();
        FlightRecorder.addPeriodicEvent(QueueEvent.class, look);
    }

    private synchronized void look() {
        var event = new QueueEvent();
        if (!opened || !event.isEnabled()) {
            return;
        }
        LoaderReport now = report.get();
        LoaderReport since = now.since(before);
        before = now;
        event.loader = loader;
        event.slots = slots.size();
        event.filledSlots = slots.size() - slots.empty();
        event.batches = since.batches();
        event.waitTime = since.consumerWaitNanos();
        event.commit();
    }

    /** Stops reporting, if started. */
    @Override
    public void close() {
        boolean wasOpened;
        synchronized (this) {
            wasOpened = opened;
            opened = false;
        }
        if (wasOpened) {
            FlightRecorder.removePeriodicEvent(look);
        }
    }
}
