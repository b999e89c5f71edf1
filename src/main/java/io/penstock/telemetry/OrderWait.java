package io.penstock.telemetry;

/**
 * The time that a batch stands made behind one that is not. Begun by the thread that made it and ended by the one that
 * hands it on, which the slot's turn orders.
 */
final class OrderWait {

    private final String loader;
    private final OrderWaitEvent event = new OrderWaitEvent();
    private boolean waits;

    OrderWait(String loader) {
        this.loader = loader;
    }

    /** A batch is made before one that goes first. */
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
