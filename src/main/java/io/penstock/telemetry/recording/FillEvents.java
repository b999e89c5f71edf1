// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import org.jspecify.annotations.Nullable;

/** A filling thread's JFR events. Confined to that thread. */
final class FillEvents {

    /** The value that JFR shows as N/A. */
    static final long NOT_MEASURED = Long.MIN_VALUE;

    private final String loader;
    /** Null before the first recording; created at once if there is one, because loading the class takes time. */
    private @Nullable StageEvent stage = Recorder.isUsed() ? new StageEvent() : null;
    private @Nullable SlotWaitEvent slotWait = Recorder.isUsed() ? new SlotWaitEvent() : null;
    /** The events that have begun. */
    private @Nullable StageEvent making;
    private @Nullable SlotWaitEvent waiting;

    FillEvents(String loader) {
        this.loader = loader;
    }

    /** No slot is free; may be called repeatedly. */
    void awaitsSlot() {
        if (waiting == null && Recorder.isUsed()) {
            SlotWaitEvent event = slotWait == null ? new SlotWaitEvent() : slotWait;
            slotWait = event;
            if (event.isEnabled()) {
                event.begin();
                waiting = event;
            }
        }
    }

    /** A slot is free, or the run is over. */
    void claimed(Filling batch) {
        SlotWaitEvent event = waiting;
        if (event != null) {
            waiting = null;
            event.end();
            if (batch.sequence != Filling.NOTHING && event.shouldCommit()) {
                event.loader = loader;
                event.batch = batch.sequence;
                event.worker = batch.worker;
                event.commit();
            }
        }
    }

    /** Samples are about to be read. */
    void planned() {
        if (Recorder.isUsed()) {
            StageEvent event = stage == null ? new StageEvent() : stage;
            stage = event;
            if (event.isEnabled()) {
                event.begin();
                making = event;
            }
        }
    }

    /** The samples are in the slot, or could not be read. */
    void filled(Filling batch) {
        StageEvent event = making;
        if (event != null) {
            making = null;
            event.end();
            if (event.shouldCommit()) {
                commit(event, batch, batch.madeAt - batch.plannedAt);
            }
        }
    }

    private void commit(StageEvent event, Filling batch, long allNanos) {
        boolean asked = batch.cpuNanos >= 0;
        event.loader = loader;
        event.batch = batch.sequence;
        event.worker = batch.worker;
        event.epoch = batch.epoch;
        event.samples = batch.samples;
        event.bytes = batch.bytes;
        event.planTime = Math.max(0, batch.plannedAt - batch.slotAt - batch.sourceEmptyNanos - batch.sourceSlowNanos);
        event.readTime = batch.readNanos;
        event.decodeTime = batch.decodeNanos;
        event.transformTime = batch.transformNanos;
        event.collateTime = Math.max(0, allNanos - batch.readNanos - batch.decodeNanos - batch.transformNanos);
        event.cpuTime = asked ? batch.cpuNanos : NOT_MEASURED;
        event.blockedTime = asked ? Math.max(0, allNanos - batch.cpuNanos) : NOT_MEASURED;
        event.storageBytes = asked ? batch.diskBytes : NOT_MEASURED;
        event.commit();
    }
}
