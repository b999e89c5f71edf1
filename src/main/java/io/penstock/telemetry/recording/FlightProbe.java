// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Copying;
import io.penstock.telemetry.BatchAccount.Making;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.recording.FlightEvents.ConsumerWaitEvent;
import io.penstock.telemetry.recording.FlightEvents.OrderWaitEvent;
import io.penstock.telemetry.recording.FlightEvents.QueueEvent;
import io.penstock.telemetry.recording.FlightEvents.SlotWaitEvent;
import io.penstock.telemetry.recording.FlightEvents.StageEvent;
import io.penstock.telemetry.recording.FlightEvents.StepEvent;
import io.penstock.telemetry.recording.FlightEvents.TransferEvent;
import io.penstock.telemetry.recording.Telemetry.LoaderIdentity;
import io.penstock.telemetry.recording.Telemetry.SlotLevels;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Reports to the JDK's flight recorder. An event begins and ends on its own thread and uses the recorder's clock. Each
 * thread, and each slot where a batch is handed over, has its own event objects, reused for every batch.
 *
 * <p>Create one only if {@link #isRecorderUsed}: without a recording, nothing should be on the heap and no JFR class be
 * loaded, which takes a tenth of a second for the first event.
 */
final class FlightProbe implements LoaderProbe {

    /** A JVM may lack the recorder. */
    private static final boolean HAS_RECORDER = ModuleLayer.boot().findModule("jdk.jfr").isPresent();
    /** The value that JFR shows as N/A. */
    private static final long NOT_APPLICABLE = Long.MIN_VALUE;

    private final LoaderIdentity of;
    private final SlotLevels slots;
    private final BatchAccounts accounts;
    private final Supplier<LoaderReport> report;
    /** One per filling thread. */
    private final StageEvent[] stages;
    private final SlotWaitEvent[] slotWaits;
    /** One per slot: the thread that made the batch begins it, the one that hands the batch on ends it, in turn. */
    private final OrderWaitEvent[] orderWaits;
    /** One per slot, confined to the copy thread. */
    private final TransferEvent[] transfers;
    /** Confined to the trainer's thread, as all below but {@link #inStep}. */
    private final ConsumerWaitEvent wait = new ConsumerWaitEvent();
    private final StepEvent step = new StepEvent();
    private final QueueReports queue = new QueueReports();
    /** Any thread may return a batch. */
    private volatile boolean inStep;
    /** The thread whose step it is. */
    private @Nullable Thread taker;
    private long stepBatch;
    private long stepBegan;
    private long stepNanos;

    FlightProbe(LoaderIdentity of, SlotLevels slots, BatchAccounts accounts, Supplier<LoaderReport> report) {
        this.of = of;
        this.slots = slots;
        this.accounts = accounts;
        this.report = report;
        this.stages = new StageEvent[of.fillers()];
        Arrays.setAll(stages, _ -> new StageEvent());
        this.slotWaits = new SlotWaitEvent[of.fillers()];
        Arrays.setAll(slotWaits, _ -> new SlotWaitEvent());
        this.orderWaits = new OrderWaitEvent[slots.size()];
        Arrays.setAll(orderWaits, _ -> new OrderWaitEvent());
        this.transfers = new TransferEvent[of.copies() ? slots.size() : 0];
        Arrays.setAll(transfers, _ -> new TransferEvent());
    }

    /** Whether this JVM has had a recording. */
    static boolean isRecorderUsed() {
        return HAS_RECORDER && FlightRecorder.isInitialized();
    }

    private int slot(long sequence) {
        return (int) (sequence % orderWaits.length);
    }

    // ---- filling threads

    @Override
    public void awaitsSlot(int worker) {
        SlotWaitEvent event = slotWaits[worker];
        if (!event.begun && event.isEnabled()) {
            event.begin();
            event.begun = true;
        }
    }

    @Override
    public void claimed(Filling batch) {
        SlotWaitEvent event = slotWaits[batch.worker];
        if (event.begun) {
            event.begun = false;
            event.end();
            if (batch.sequence != Filling.NOTHING && event.shouldCommit()) {
                event.describe(of.name(), batch.sequence);
                event.worker = batch.worker;
                event.commit();
            }
        }
    }

    @Override
    public void planned(Filling batch) {
        StageEvent event = stages[batch.worker];
        event.begun = event.isEnabled();
        if (event.begun) {
            event.begin();
        }
    }

    @Override
    public void filled(Filling batch) {
        StageEvent event = stages[batch.worker];
        if (event.begun) {
            event.begun = false;
            event.end();
            if (event.shouldCommit()) {
                commit(event, batch, batch.madeAt - batch.plannedAt);
            }
        }
        if (batch.sequence > 0 && !slots.isMadeWith(batch.sequence - 1)) {
            OrderWaitEvent order = orderWaits[slot(batch.sequence)];
            order.begun = order.isEnabled();
            if (order.begun) {
                order.begin();
            }
        }
    }

    private void commit(StageEvent event, Filling batch, long allNanos) {
        boolean asked = batch.cpuNanos >= 0;
        event.describe(of.name(), batch.sequence);
        event.worker = batch.worker;
        event.epoch = batch.epoch;
        event.samples = batch.samples;
        event.bytes = batch.bytes;
        event.planTime = batch.planNanos();
        event.readTime = batch.readNanos;
        event.decodeTime = batch.decodeNanos;
        event.transformTime = batch.transformNanos;
        event.collateTime = Math.max(0, allNanos - batch.readNanos - batch.decodeNanos - batch.transformNanos);
        event.cpuTime = asked ? batch.cpuNanos : NOT_APPLICABLE;
        event.blockedTime = asked ? Math.max(0, allNanos - batch.cpuNanos) : NOT_APPLICABLE;
        event.storageBytes = asked ? batch.diskBytes : NOT_APPLICABLE;
        event.commit();
    }

    // ---- the thread that reads the ring

    @Override
    public void reached(long sequence) {
        OrderWaitEvent order = orderWaits[slot(sequence)];
        if (order.begun) {
            order.begun = false;
            order.end();
            if (order.shouldCommit()) {
                order.describe(of.name(), sequence);
                order.commit();
            }
        }
        if (of.copies()) {
            TransferEvent event = transfers[slot(sequence)];
            event.begun = event.isEnabled();
            if (event.begun) {
                event.begin();
            }
        }
    }

    @Override
    public void submitted(long sequence, long bytes, long beginAt, long endAt) {
        TransferEvent event = transfers[slot(sequence)];
        event.bytes = bytes;
        event.submitTime = endAt - beginAt;
    }

    @Override
    public void arrived(long sequence) {
        TransferEvent event = transfers[slot(sequence)];
        if (event.begun) {
            event.begun = false;
            event.end();
            if (event.shouldCommit()) {
                event.describe(of.name(), sequence);
                event.device = of.device();
                event.commit();
            }
        }
    }

    // ---- the trainer's thread

    /** A request for a batch ends the previous step. */
    @Override
    public void requested(long sequence, EpochBounds epochs) {
        queue.open();
        if (inStep) {                               // the time since belongs to it if the epoch continues
            endStep(sequence == stepBatch + 1 && !epochs.isFirst(sequence));
        }
        if (step.isEnabled()) {
            beginStep(sequence);
        }
        wait.begun = wait.isEnabled();
        if (wait.begun) {
            wait.begin();
        }
    }

    @Override
    public void taken(long sequence, long requestedAt, long takenAt, int samples, int replaced) {
        if (wait.begun) {
            wait.begun = false;
            wait.end();
            if (wait.shouldCommit()) {
                wait.describe(of.name(), sequence);
                wait.filledSlots = slots.size() - slots.empty();
                wait.commit();
            }
        }
    }

    @Override
    public void notTaken(long waitNanos) {
        inStep = false;
        wait.begun = false;
    }

    @Override
    public void closed(long sequence) {
        if (inStep && taker == Thread.currentThread() && sequence == stepBatch) {
            step.end();
            stepNanos = System.nanoTime() - stepBegan;
        }
    }

    private void beginStep(long sequence) {
        taker = Thread.currentThread();
        stepBatch = sequence;
        stepBegan = System.nanoTime();
        stepNanos = 0;
        step.begin();
        inStep = true;
    }

    private void endStep(boolean epochContinues) {
        inStep = false;
        if (epochContinues) {
            step.end();
            stepNanos = System.nanoTime() - stepBegan;
        }
        BatchAccount account = accounts.account(stepBatch);
        if (account != null && stepNanos > 0 && step.shouldCommit()) {
            long waited = account.taking().waitNanos();
            long computed = Math.max(0, Math.min(account.taking().computeOrHeldNanos(), stepNanos - waited));
            step.describe(of.name(), stepBatch);
            step.epoch = account.epoch();
            step.first = account.first();
            step.samples = account.samples();
            step.waitTime = waited;
            step.computeTime = computed;
            step.residualTime = Math.max(0, stepNanos - waited - computed);
            step.copyTime = account.copyNanos() < 0 ? NOT_APPLICABLE : account.copyNanos();
            step.waitedFor = waitedFor(account);
            step.commit();
        }
    }

    private static final List<String> STAGES = List.of("start", "slot", "source", "plan", "make", "slot", "copy",
            "handover");

    /** Returns the stage in which a batch spent most of the time that the trainer waited for it. */
    private static String waitedFor(BatchAccount account) {
        Making made = account.making();
        Copying copied = account.copying();
        long takenAt = account.taking().takenAt();
        long arrivedAt = copied == null ? made.madeAt() : copied.arrivedAt() < 0 ? takenAt : copied.arrivedAt();
        long[] ends = {made.claimedAt(), made.slotAt(), made.plannedAt() - made.planNanos(), made.plannedAt(),
            made.madeAt(), copied == null ? made.madeAt() : copied.submitAt(), arrivedAt, takenAt};
        String longest = "handover";
        long longestNanos = 0;
        long at = account.taking().requestedAt();
        for (int stage = 0; stage < ends.length; stage++) {
            long end = Math.min(Math.max(ends[stage], at), Math.max(takenAt, at));
            if (end - at > longestNanos) {
                longestNanos = end - at;
                longest = STAGES.get(stage);
            }
            at = end;
        }
        return longest;
    }

    @Override
    public void close() {
        if (inStep && taker == Thread.currentThread()) {
            endStep(false);
        }
        queue.close();
    }

    /** Reports the fill level periodically, from the first request on; the recorder's thread asks for it. */
    private final class QueueReports {

        private final Runnable reporter = this::report;
        /** Confined to the trainer's thread. */
        private boolean opened;
        /** The totals at the last event; null while nothing is reported. */
        private @Nullable LoaderReport before;

        void open() {
            if (!opened) {
                opened = true;
                synchronized (this) {
                    before = report.get();
                }
                FlightRecorder.addPeriodicEvent(QueueEvent.class, reporter);
            }
        }

        private synchronized void report() {
            var event = new QueueEvent();
            LoaderReport earlier = before;
            if (earlier == null || !event.isEnabled()) {
                return;
            }
            LoaderReport now = report.get();
            LoaderReport since = now.since(earlier);
            before = now;
            event.loader = of.name();
            event.slots = slots.size();
            event.filledSlots = slots.size() - slots.empty();
            event.batches = since.batches();
            event.waitTime = since.consumerWaitNanos();
            event.commit();
        }

        void close() {
            boolean reports;
            synchronized (this) {
                reports = before != null;
                before = null;
            }
            if (reports) {
                FlightRecorder.removePeriodicEvent(reporter);
            }
        }
    }
}
