package io.penstock.loader.events;

import io.penstock.loader.LoaderReport;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;

/** Says now and then how full a loader is, once there has been a recording. */
public final class QueueProbe implements AutoCloseable {

    private final String loader;
    private final int slots;
    private final IntSupplier filledSlots;
    private final Supplier<LoaderReport> report;
    private final Runnable look = this::look;
    private LoaderReport before;
    private boolean opened;

    /**
     * For one loader.
     *
     * @param loader the loader's name
     * @param slots how many slots it has
     * @param filledSlots how many of them have a batch in them
     * @param report its running totals
     */
    public QueueProbe(String loader, int slots, IntSupplier filledSlots, Supplier<LoaderReport> report) {
        this.loader = loader;
        this.slots = slots;
        this.filledSlots = filledSlots;
        this.report = report;
    }

    /** Begins. */
    public synchronized void open() {
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
        event.slots = slots;
        event.filledSlots = filledSlots.getAsInt();
        event.batches = since.batches();
        event.waitTime = since.consumerWaitNanos();
        event.commit();
    }

    /** Ends, if it was begun. */
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
