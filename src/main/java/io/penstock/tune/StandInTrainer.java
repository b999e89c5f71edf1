package io.penstock.tune;

import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Takes batches as a trainer does: reads one element of each field where the CPU can, holds the batch for the time of a
 * step, and returns it. Of each step it keeps what it measured until the next one. One thread's.
 */
public final class StandInTrainer {

    private final Supplier<Batch> batches;
    private final long stepNanos;
    private final TensorSpec[] fields;
    private long gotAt;
    private long waitNanos;
    private long samples;
    private long bytes;
    /** What was read of the batches, kept so that it is read at all. */
    private double checksum;

    /**
     * A trainer.
     *
     * @param loader what the batches are of
     * @param batches gives the next batch
     * @param stepNanos how long to hold a batch; 0 to return it at once
     */
    public StandInTrainer(DataLoader loader, Supplier<Batch> batches, long stepNanos) {
        this.batches = batches;
        this.stepNanos = stepNanos;
        this.fields = loader.device().hostAccessible() ? loader.layout().fields().toArray(TensorSpec[]::new)
                : new TensorSpec[0];
    }

    /** Takes a batch, holds it and returns it. An interrupt of the thread shortens that, and stays set. */
    public void step() {
        long begin = System.nanoTime();
        try (Batch batch = batches.get()) {
            gotAt = System.nanoTime();
            waitNanos = gotAt - begin;
            samples = batch.count();
            bytes = batch.byteSize();
            // A batch that nobody reads proves nothing.
            for (TensorSpec field : fields) {
                Tensor tensor = batch.tensor(field.name());
                if (tensor.elementCount() > 0) {
                    checksum += tensor.getDouble(0);
                }
            }
            hold();
        }
    }

    /** The thread sleeps, as one does that waits for a GPU. */
    private void hold() {
        long left = stepNanos == 0 ? 0 : gotAt + stepNanos - System.nanoTime();
        while (left > 0 && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(left);
            left = gotAt + stepNanos - System.nanoTime();
        }
    }

    /**
     * When the batch of the last step was there.
     *
     * @return a time of {@link System#nanoTime}
     */
    public long gotAt() {
        return gotAt;
    }

    /**
     * How long the last step waited for its batch.
     *
     * @return nanoseconds
     */
    public long waitNanos() {
        return waitNanos;
    }

    /**
     * How many samples the last step's batch had.
     *
     * @return samples
     */
    public long samples() {
        return samples;
    }

    /**
     * What was moved for the last step's batch.
     *
     * @return bytes
     */
    public long bytes() {
        return bytes;
    }

    /**
     * A number that follows from the elements that were read.
     *
     * @return their sum
     */
    public double checksum() {
        return checksum;
    }
}
