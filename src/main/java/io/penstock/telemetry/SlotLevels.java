package io.penstock.telemetry;

/** How full a loader's host slots are: read when a probe wants to know. May be asked by any thread. */
public interface SlotLevels {

    /**
     * How many slots there are.
     *
     * @return at least 1
     */
    int size();

    /**
     * How many slots hold no batch that is made.
     *
     * @return from 0 to {@link #size}
     */
    int empty();

    /**
     * How many batches stand made: a batch and those behind it that are copied, or wait for it.
     *
     * @param sequence the batch's number in the loader's life
     * @return from 0 to {@link #size}
     */
    int madeFrom(long sequence);

    /**
     * Whether a batch was made, however long ago.
     *
     * @param sequence the batch's number in the loader's life
     * @return false if it is still to be made
     */
    boolean isMadeWith(long sequence);
}
