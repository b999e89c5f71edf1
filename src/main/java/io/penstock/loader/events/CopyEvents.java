package io.penstock.loader.events;

import io.penstock.device.nvtx.NvtxRange;
import java.util.Arrays;

/** What the copy thread tells. Of that thread; copies may be in flight side by side, as many as there are slots. */
public final class CopyEvents implements AutoCloseable {

    private final String loader;
    private final String device;
    private final TransferEvent[] transfers;
    private final boolean[] records;
    /** Null if no tool listens. */
    private final NvtxRange copy = NvtxRange.of("copy");
    private final long[] ranges;

    /**
     * For one loader.
     *
     * @param loader the loader's name
     * @param device where it copies to
     * @param inFlight the most copies that are in flight
     */
    public CopyEvents(String loader, String device, int inFlight) {
        this.loader = loader;
        this.device = device;
        this.transfers = new TransferEvent[inFlight];
        if (Recorder.isUsed()) {
            Arrays.setAll(transfers, _ -> new TransferEvent());
        }
        this.records = new boolean[inFlight];
        this.ranges = copy == null ? null : new long[inFlight];
    }

    private int index(long batch) {
        return (int) (batch % records.length);
    }

    /**
     * A copy is about to be enqueued.
     *
     * @param batch of this batch
     */
    public void submits(long batch) {
        int i = index(batch);
        if (Recorder.isUsed()) {
            transfers[i] = transfers[i] == null ? new TransferEvent() : transfers[i];
            records[i] = transfers[i].isEnabled();
            if (records[i]) {
                transfers[i].begin();
            }
        }
        if (copy != null) {
            ranges[i] = copy.start(batch);
        }
    }

    /**
     * It is.
     *
     * @param batch of this batch
     * @param bytes how much is copied
     * @param nanos what enqueueing took
     */
    public void submitted(long batch, long bytes, long nanos) {
        int i = index(batch);
        if (records[i]) {
            transfers[i].bytes = bytes;
            transfers[i].submitTime = nanos;
        }
    }

    /**
     * The bytes are on the device.
     *
     * @param batch of this batch
     */
    public void arrived(long batch) {
        int i = index(batch);
        if (records[i]) {
            records[i] = false;
            TransferEvent transfer = transfers[i];
            transfer.end();
            if (transfer.shouldCommit()) {
                transfer.loader = loader;
                transfer.device = device;
                transfer.batch = batch;
                transfer.commit();
            }
        }
        if (copy != null) {
            copy.end(ranges[i]);
        }
    }

    @Override
    public void close() {
        if (copy != null) {
            copy.close();
        }
    }
}
