package io.penstock.telemetry;

/** The fill level of a loader's host slots, for probes. Thread-safe. */
public interface SlotLevels {

    /**
     * The number of slots.
     *
     * @return at least 1
     */
    int size();

    /**
     * The number of slots without a complete batch.
     *
     * @return from 0 to {@link #size}
     */
    int empty();

    /**
     * The number of complete batches from this one on: it and those after it that are being copied or wait for it.
     *
     * @param sequence the batch's number since the loader opened
     * @return from 0 to {@link #size}
     */
    int madeFrom(long sequence);

    /**
     * Whether a batch was ever completed.
     *
     * @param sequence the batch's number since the loader opened
     * @return false if it is not made yet
     */
    boolean isMadeWith(long sequence);
}
