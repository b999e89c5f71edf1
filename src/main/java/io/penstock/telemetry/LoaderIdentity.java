package io.penstock.telemetry;

/**
 * The loader that telemetry describes.
 *
 * @param name the loader's name
 * @param device its device's name
 * @param workers number of worker threads; with 0, the trainer's thread fills slots
 * @param copies whether it copies batches to the device
 */
public record LoaderIdentity(String name, String device, int workers, boolean copies) {

    /** Threads that may fill slots: the workers and, last, the trainer's thread. */
    int fillers() {
        return workers + 1;
    }

    /** {@return the trainer's number among the filling threads: the last worker's plus one} */
    public int trainer() {
        return workers;
    }
}
