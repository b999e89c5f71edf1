package io.penstock.loader.events;

/**
 * The time that a batch stands made behind one that is not. Begun by the thread that made it and ended by the one that
 * hands it on, which the slot's turn orders.
 */
public final class OrderWait {

    private final String loader;
    private final OrderWaitEvent event = new OrderWaitEvent();
    private boolean waits;

    private OrderWait(String loader) {
        this.loader = loader;
    }

    /**
     * Whether there may be anybody to tell.
     *
     * @return false as long as this JVM has not made a recording
     */
    public static boolean isWatched() {
        return Recorder.isUsed();
    }

    /**
     * A batch is made before one that goes first.
     *
     * @param before the slot's, if it has one
     * @param loader the loader's name
     * @return the slot's from now on
     */
    public static OrderWait begin(OrderWait before, String loader) {
        OrderWait wait = before == null ? new OrderWait(loader) : before;
        wait.waits = wait.event.isEnabled();
        if (wait.waits) {
            wait.event.begin();
        }
        return wait;
    }

    /**
     * The slot's batch is handed on.
     *
     * @param batch its number
     */
    public void end(long batch) {
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
