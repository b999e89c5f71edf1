// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.telemetry.BatchAccount;
import org.jspecify.annotations.Nullable;

/** The trainer thread's JFR events. Confined to that thread, except {@link #closed}. */
final class TakeEvents implements AutoCloseable {

    private final String loader;
    private final SlotLevels slots;
    private final AccountBook accounts;
    private final Runnable firstRecording;
    private boolean toldFirst;
    /** Null before the first recording; created at once if there is one, because loading the class takes time. */
    private @Nullable ConsumerWaitEvent wait = Recorder.isUsed() ? new ConsumerWaitEvent() : null;
    private @Nullable StepEvent step = Recorder.isUsed() ? new StepEvent() : null;
    /** The events that have begun. */
    private @Nullable ConsumerWaitEvent waiting;
    private volatile @Nullable StepEvent inStep;
    /** The thread whose step it is. */
    private @Nullable Thread taker;
    private long stepBatch;
    private long requestedAt;
    private long stepNanos;

    /** The action runs when a recording first starts. */
    TakeEvents(String loader, SlotLevels slots, AccountBook accounts, Runnable firstRecording) {
        this.loader = loader;
        this.slots = slots;
        this.accounts = accounts;
        this.firstRecording = firstRecording;
    }

    /** The trainer asks for a batch, which ends its previous step. */
    void requested(long batch, EpochBounds epochs) {
        if (!Recorder.isUsed()) {
            return;
        }
        ConsumerWaitEvent waitEvent = wait == null ? new ConsumerWaitEvent() : wait;
        StepEvent stepEvent = step == null ? new StepEvent() : step;
        wait = waitEvent;
        step = stepEvent;
        if (!toldFirst) {
            toldFirst = true;
            firstRecording.run();
        }
        if (inStep != null) {                           // the time since belongs to it if the epoch continues
            endStep(stepEvent, batch == stepBatch + 1 && !epochs.isFirst(batch));
        }
        if (stepEvent.isEnabled()) {
            beginStep(stepEvent, batch);
        }
        if (waitEvent.isEnabled()) {
            waitEvent.begin();
            waiting = waitEvent;
        }
    }

    /** The wait ended with a batch. */
    void taken(long batch) {
        ConsumerWaitEvent event = waiting;
        if (event != null) {
            waiting = null;
            event.end();
            if (event.shouldCommit()) {
                event.loader = loader;
                event.batch = batch;
                event.filledSlots = slots.size() - slots.empty();
                event.commit();
            }
        }
    }

    /** The wait ended without a batch. */
    void notTaken() {
        inStep = null;
        waiting = null;
    }

    /** Any thread returned a batch. */
    void closed(long batch) {
        StepEvent event = inStep;
        if (event != null && taker == Thread.currentThread() && batch == stepBatch) {
            event.end();
            stepNanos = System.nanoTime() - requestedAt;
        }
    }

    private void beginStep(StepEvent event, long batch) {
        taker = Thread.currentThread();
        stepBatch = batch;
        requestedAt = System.nanoTime();
        stepNanos = 0;
        event.begin();
        inStep = event;
    }

    private void endStep(StepEvent event, boolean goesOn) {
        inStep = null;
        if (goesOn) {
            event.end();
            stepNanos = System.nanoTime() - requestedAt;
        }
        BatchAccount account = accounts.account(stepBatch);
        if (account != null && stepNanos > 0 && event.shouldCommit()) {
            long waited = account.taking().waitNanos();
            long computed = Math.max(0, Math.min(account.taking().computeOrHeldNanos(), stepNanos - waited));
            event.loader = loader;
            event.batch = stepBatch;
            event.epoch = account.epoch();
            event.first = account.first();
            event.samples = account.samples();
            event.waitTime = waited;
            event.computeTime = computed;
            event.residualTime = Math.max(0, stepNanos - waited - computed);
            event.copyTime = account.copyNanos() < 0 ? FillEvents.NOT_MEASURED : account.copyNanos();
            event.waitedFor = Path.longest(account);
            event.commit();
        }
    }

    @Override
    public void close() {
        StepEvent event = inStep;
        if (event != null && taker == Thread.currentThread()) {
            endStep(event, false);
        }
    }
}
