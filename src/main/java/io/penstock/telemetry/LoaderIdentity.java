package io.penstock.telemetry;

/**
 * Whose telemetry it is.
 *
 * @param name what the loader is called
 * @param device what its device is called
 * @param workers its worker threads; if there are none, the trainer's thread fills
 * @param copies whether it copies batches to the device
 */
public record LoaderIdentity(String name, String device, int workers, boolean copies) {

    /** Threads that may fill: the workers, and the trainer's thread behind them. */
    int fillers() {
        return workers + 1;
    }

    /**
     * The number of the trainer's thread among those that fill.
     *
     * @return one more than the last worker's
     */
    public int trainer() {
        return workers;
    }
}
