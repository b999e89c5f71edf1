package io.penstock.loader.events;

import io.penstock.device.nvtx.NvtxRange;

/** What a thread that fills slots tells. Of that thread. */
public final class FillEvents implements AutoCloseable {

    /** What the recorder shows as N/A. */
    static final long NOT_MEASURED = Long.MIN_VALUE;

    private final String loader;
    private final int worker;
    /** Null if no tool listens. */
    private final NvtxRange make = NvtxRange.of("make");
    /** Null before the first recording; made at once if there is one, since a class takes its time to load. */
    private StageEvent stage = Recorder.isUsed() ? new StageEvent() : null;
    private SlotWaitEvent slotWait = Recorder.isUsed() ? new SlotWaitEvent() : null;
    private boolean records;
    private boolean waits;
    private boolean pushed;

    /**
     * For one thread.
     *
     * @param loader the loader's name
     * @param worker the thread's number
     */
    public FillEvents(String loader, int worker) {
        this.loader = loader;
        this.worker = worker;
    }

    /** No slot to fill is free; said again while that is so. */
    public void waitsForSlot() {
        if (!waits && Recorder.isUsed()) {
            slotWait = slotWait == null ? new SlotWaitEvent() : slotWait;
            waits = slotWait.isEnabled();
            if (waits) {
                slotWait.begin();
            }
        }
    }

    /**
     * It is now, or the run is over.
     *
     * @param batch the batch to fill it with; less than 0 if nothing is left to fill
     */
    public void hasSlot(long batch) {
        if (waits) {
            waits = false;
            slotWait.end();
            if (batch >= 0 && slotWait.shouldCommit()) {
                slotWait.loader = loader;
                slotWait.batch = batch;
                slotWait.worker = worker;
                slotWait.commit();
            }
        }
    }

    /**
     * Samples are about to be read.
     *
     * @param batch of this batch
     */
    public void begins(long batch) {
        if (Recorder.isUsed()) {
            stage = stage == null ? new StageEvent() : stage;
            records = stage.isEnabled();
            if (records) {
                stage.begin();
            }
        }
        if (make != null) {
            make.push(batch);
            pushed = true;
        }
    }

    /**
     * The samples are in the slot, or could not be read.
     *
     * @param batch the batch
     * @return whether {@link #made} wants to be told of it
     */
    public boolean ends(long batch) {
        if (pushed) {
            pushed = false;
            make.pop();
        }
        if (!records) {
            return false;
        }
        records = false;
        stage.end();
        stage.batch = batch;
        return stage.shouldCommit();
    }

    /**
     * What the batch is, and what its stages took.
     *
     * @param epoch the epoch of its samples
     * @param samples how many there are
     * @param bytes bytes of them in the slot
     * @param planNanos working out which samples
     * @param readNanos reading
     * @param decodeNanos decoding
     * @param transformNanos maps of samples
     * @param allNanos all from the plan on
     * @param cpuNanos what of that the thread ran; less than 0 if it was not asked
     * @param storageBytes what came from storage; counts if the thread was asked
     */
    public void made(long epoch, int samples, long bytes, long planNanos, long readNanos, long decodeNanos,
            long transformNanos, long allNanos, long cpuNanos, long storageBytes) {
        stage.loader = loader;
        stage.worker = worker;
        stage.epoch = epoch;
        stage.samples = samples;
        stage.bytes = bytes;
        stage.planTime = planNanos;
        stage.readTime = readNanos;
        stage.decodeTime = decodeNanos;
        stage.transformTime = transformNanos;
        stage.collateTime = Math.max(0, allNanos - readNanos - decodeNanos - transformNanos);
        stage.cpuTime = cpuNanos < 0 ? NOT_MEASURED : cpuNanos;
        stage.blockedTime = cpuNanos < 0 ? NOT_MEASURED : Math.max(0, allNanos - cpuNanos);
        stage.storageBytes = cpuNanos < 0 ? NOT_MEASURED : storageBytes;
        stage.commit();
    }

    @Override
    public void close() {
        if (make != null) {
            make.close();
        }
    }
}
