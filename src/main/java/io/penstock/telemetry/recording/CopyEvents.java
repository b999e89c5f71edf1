// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The copy thread's JFR events. Confined to that thread; each slot may have a copy in flight. */
final class CopyEvents {

    private final String loader;
    private final String device;
    private final @Nullable TransferEvent[] transfers;
    /** The events that have begun. */
    private final @Nullable TransferEvent[] begun;

    CopyEvents(String loader, String device, int inFlight) {
        this.loader = loader;
        this.device = device;
        this.transfers = new TransferEvent[inFlight];
        if (Recorder.isUsed()) {
            Arrays.setAll(transfers, _ -> new TransferEvent());
        }
        this.begun = new TransferEvent[inFlight];
    }

    /** Whether batches are copied. */
    boolean areMade() {
        return begun.length > 0;
    }

    private int index(long batch) {
        return (int) (batch % begun.length);
    }

    /** A copy is about to be enqueued. */
    void reached(long batch) {
        if (Recorder.isUsed()) {
            int i = index(batch);
            TransferEvent transfer = transfers[i] == null ? new TransferEvent() : transfers[i];
            transfers[i] = transfer;
            begun[i] = transfer.isEnabled() ? transfer : null;
            if (begun[i] != null) {
                transfer.begin();
            }
        }
    }

    /** The copy was enqueued. */
    void submitted(long batch, long bytes, long nanos) {
        TransferEvent transfer = begun[index(batch)];
        if (transfer != null) {
            transfer.bytes = bytes;
            transfer.submitTime = nanos;
        }
    }

    /** The bytes are on the device. */
    void arrived(long batch) {
        TransferEvent transfer = begun[index(batch)];
        if (transfer != null) {
            begun[index(batch)] = null;
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
