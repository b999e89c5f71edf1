package io.penstock.telemetry;

import java.util.Arrays;

/** The copy thread's JFR events. Confined to that thread; each slot may have a copy in flight. */
final class CopyEvents {

    private final String loader;
    private final String device;
    private final TransferEvent[] transfers;
    private final boolean[] records;

    /** At most so many copies are in flight. */
    CopyEvents(String loader, String device, int inFlight) {
        this.loader = loader;
        this.device = device;
        this.transfers = new TransferEvent[inFlight];
        if (Recorder.isUsed()) {
            Arrays.setAll(transfers, _ -> new TransferEvent());
        }
        this.records = new boolean[inFlight];
    }

    /** Whether batches are copied. */
    boolean areMade() {
        return records.length > 0;
    }

    private int index(long batch) {
        return (int) (batch % records.length);
    }

    /** A copy is about to be enqueued. */
    void reached(long batch) {
        if (Recorder.isUsed()) {
            int i = index(batch);
            transfers[i] = transfers[i] == null ? new TransferEvent() : transfers[i];
            records[i] = transfers[i].isEnabled();
            if (records[i]) {
                transfers[i].begin();
            }
        }
    }

    /** The copy was enqueued. */
    void submitted(long batch, long bytes, long nanos) {
        int i = index(batch);
        if (records[i]) {
            transfers[i].bytes = bytes;
            transfers[i].submitTime = nanos;
        }
    }

    /** The bytes are on the device. */
    void arrived(long batch) {
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
    }
}
