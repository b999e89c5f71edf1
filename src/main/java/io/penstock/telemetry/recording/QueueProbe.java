// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.telemetry.LoaderReport;
import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/** Reports a loader's fill level periodically, once a recording has started. */
final class QueueProbe implements AutoCloseable {

    private final String loader;
    private final SlotLevels slots;
    private final Supplier<LoaderReport> report;
    private final Runnable look = this::look;
    /** The totals at the last event; null while nothing is reported. */
    private @Nullable LoaderReport before;

    QueueProbe(String loader, SlotLevels slots, Supplier<LoaderReport> report) {
        this.loader = loader;
        this.slots = slots;
        this.report = report;
    }

    synchronized void open() {
        before = report.get();
        FlightRecorder.addPeriodicEvent(QueueEvent.class, look);
    }

    private synchronized void look() {
        var event = new QueueEvent();
        LoaderReport earlier = before;
        if (earlier == null || !event.isEnabled()) {
            return;
        }
        LoaderReport now = report.get();
        LoaderReport since = now.since(earlier);
        before = now;
        event.loader = loader;
        event.slots = slots.size();
        event.filledSlots = slots.size() - slots.empty();
        event.batches = since.batches();
        event.waitTime = since.consumerWaitNanos();
        event.commit();
    }

    @Override
    public void close() {
        boolean wasOpened;
        synchronized (this) {
            wasOpened = before != null;
            before = null;
        }
        if (wasOpened) {
            FlightRecorder.removePeriodicEvent(look);
        }
    }
}
