package io.penstock.telemetry;

/** Where epochs begin among the batches of a loader. */
@FunctionalInterface
public interface EpochBounds {

    /**
     * Whether a batch is the first of its epoch, or the first after the loader was opened or moved.
     *
     * @param sequence the batch's number in the loader's life
     * @return false if it goes on where the batch before it ended
     */
    boolean isFirst(long sequence);
}
