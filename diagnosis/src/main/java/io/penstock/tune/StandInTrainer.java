// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import io.penstock.loader.Batch;
import io.penstock.loader.DeviceLoader;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Takes batches like a trainer: reads one element of each field if the CPU can, holds the batch for the time of a step,
 * and returns it. Keeps the last step's measurements. Not thread-safe.
 */
public final class StandInTrainer {

    private final Supplier<Batch> batches;
    private final long stepNanos;
    private final TensorSpec[] fields;
    private long gotAt;
    private long waitNanos;
    private long samples;
    private long bytes;
    /** Depends on the elements read, so that the JIT cannot remove the reads. */
    @SuppressWarnings("unused")
    private double checksum;

    /**
     * Creates a trainer.
     *
     * @param loader the batches' loader
     * @param batches returns the next batch
     * @param stepNanos how long to hold a batch; 0 to return it at once
     */
    public StandInTrainer(DeviceLoader loader, Supplier<Batch> batches, long stepNanos) {
        this.batches = batches;
        this.stepNanos = stepNanos;
        this.fields = loader.device().hostAccessible() ? loader.layout().fields().toArray(TensorSpec[]::new)
                : new TensorSpec[0];
    }

    /** Takes a batch, holds it and returns it. An interrupt shortens the step, and the thread stays interrupted. */
    public void step() {
        long begin = System.nanoTime();
        try (Batch batch = batches.get()) {
            gotAt = System.nanoTime();
            waitNanos = gotAt - begin;
            samples = batch.count();
            bytes = batch.byteSize();
            // Unless someone reads a batch, it proves nothing.
            for (TensorSpec field : fields) {
                Tensor tensor = batch.tensor(field.name());
                if (tensor.elementCount() > 0) {
                    checksum += tensor.getDouble(0);
                }
            }
            hold();
        }
    }

    /** Sleeps, like a thread that waits for a GPU. */
    private void hold() {
        long left = stepNanos == 0 ? 0 : gotAt + stepNanos - System.nanoTime();
        while (left > 0 && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(left);
            left = gotAt + stepNanos - System.nanoTime();
        }
    }

    /** {@return when the last step's batch arrived, by {@link System#nanoTime}} */
    public long gotAt() {
        return gotAt;
    }

    /** {@return the nanoseconds that the last step waited for its batch} */
    public long waitNanos() {
        return waitNanos;
    }

    /** {@return the number of samples in the last step's batch} */
    public long samples() {
        return samples;
    }

    /** {@return the bytes of the last step's batch} */
    public long bytes() {
        return bytes;
    }
}
