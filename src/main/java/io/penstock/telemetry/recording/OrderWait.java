// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

/**
 * The time that a complete batch waits for an earlier one. The thread that made it begins the event and the thread that
 * hands it on ends it; the slot's turn orders the two.
 */
final class OrderWait {

    private final String loader;
    private final OrderWaitEvent event = new OrderWaitEvent();
    private boolean waits;

    OrderWait(String loader) {
        this.loader = loader;
    }

    /** A batch is complete before an earlier one. */
    void begin() {
        waits = event.isEnabled();
        if (waits) {
            event.begin();
        }
    }

    /** The batch is handed on. */
    void end(long batch) {
        if (waits) {
            waits = false;
            event.end();
            if (event.shouldCommit()) {
                event.loader = loader;
                event.batch = batch;
                event.commit();
            }
        }
    }
}
