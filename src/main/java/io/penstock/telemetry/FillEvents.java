package io.penstock.telemetry;

/** A filling thread's JFR events. Confined to that thread. */
final class FillEvents {

    /** The value that JFR shows as N/A. */
    static final long NOT_MEASURED = Long.MIN_VALUE;

    private final String loader;
    /** Null before the first recording; created at once if there is one, because loading the class takes time. */
    private StageEvent stage = Recorder.isUsed() ? new StageEvent() : null;
    private SlotWaitEvent slotWait = Recorder.isUsed() ? new SlotWaitEvent() : null;
    private boolean records;
    private boolean waits;

    FillEvents(String loader) {
        this.loader = loader;
    }

    /** No slot is free; may be called repeatedly. */
    void awaitsSlot() {
        if (!waits && Recorder.isUsed()) {
            slotWait = slotWait == null ? new SlotWaitEvent() : slotWait;
            waits = slotWait.isEnabled();
            if (waits) {
                slotWait.begin();
            }
        }
    }

    /** A slot is free, or the run is over. */
    void claimed(Filling batch) {
        if (waits) {
            waits = false;
            slotWait.end();
            if (batch.sequence != Filling.NOTHING && slotWait.shouldCommit()) {
                slotWait.loader = loader;
                slotWait.batch = batch.sequence;
                slotWait.worker = batch.worker;
                slotWait.commit();
            }
        }
    }

    /** Samples are about to be read. */
    void planned() {
        if (Recorder.isUsed()) {
            stage = stage == null ? new StageEvent() : stage;
            records = stage.isEnabled();
            if (records) {
                stage.begin();
            }
        }
    }

    /** The samples are in the slot, or could not be read. */
    void filled(Filling batch) {
        if (records) {
            records = false;
            stage.end();
            if (stage.shouldCommit()) {
                commit(batch, batch.madeAt - batch.plannedAt);
            }
        }
    }

    private void commit(Filling batch, long allNanos) {
        boolean asked = batch.cpuNanos >= 0;
        stage.loader = loader;
        stage.batch = batch.sequence;
        stage.worker = batch.worker;
        stage.epoch = batch.epoch;
        stage.samples = batch.samples;
        stage.bytes = batch.bytes;
        stage.planTime = batch.plannedAt - batch.slotAt;
        stage.readTime = batch.readNanos;
        stage.decodeTime = batch.decodeNanos;
        stage.transformTime = batch.transformNanos;
        stage.collateTime = Math.max(0, allNanos - batch.readNanos - batch.decodeNanos - batch.transformNanos);
        stage.cpuTime = asked ? batch.cpuNanos : NOT_MEASURED;
        stage.blockedTime = asked ? Math.max(0, allNanos - batch.cpuNanos) : NOT_MEASURED;
        stage.storageBytes = asked ? batch.diskBytes : NOT_MEASURED;
        stage.commit();
    }
}
