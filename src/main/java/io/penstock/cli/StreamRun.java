package io.penstock.cli;

import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LoaderInterruptedException;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.LoaderState;
import io.penstock.telemetry.LoaderReport;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Takes batches from a loader as a trainer does, holds each for the time of a step, and measures how that goes. An
 * interrupt ends it at a batch's end.
 */
final class StreamRun {

    private final DataLoader loader;
    private final Supplier<Batch> batches;
    private final long openedNanos;
    private final long stepNanos;
    private final ProgressBar bar;
    private final boolean readable;
    private final TensorSpec[] fields;

    private long firstBatchNanos = -1;
    private long samples;
    private long bytes;
    private DurationHistogram steps;
    private DurationHistogram waits;
    /** What was read of the batches, kept so that it is read at all. */
    private double checksum;

    /**
     * What was measured, the warm-up left out.
     *
     * @param steps batches taken and given back
     * @param samples in them
     * @param bytes of them, as they are moved to the device
     * @param nanos from the first step's begin to the last one's end
     * @param firstBatchNanos from before the loader was opened until the first batch was there; -1 if none came
     * @param stepTimes of whole steps
     * @param waitTimes within them, in {@link DataLoader#next()}
     * @param loader where the loader's time went
     * @param end where the loader is then
     * @param interrupted whether it ended early
     */
    record Measured(long steps, long samples, long bytes, long nanos, long firstBatchNanos,
            DurationHistogram stepTimes, DurationHistogram waitTimes, LoaderReport loader, LoaderState end,
            boolean interrupted) {
    }

    /**
     * A run.
     *
     * @param loader what to take from
     * @param openedNanos when it was about to be opened, as {@link System#nanoTime} counts
     * @param stepNanos how long to hold a batch; 0 to give it back at once
     * @param bar told how many batches were taken
     */
    StreamRun(DataLoader loader, long openedNanos, long stepNanos, ProgressBar bar) {
        this(loader, loader::next, openedNanos, stepNanos, bar);
    }

    /** A run whose batches are not the loader's next ones. */
    StreamRun(DataLoader loader, Supplier<Batch> batches, long openedNanos, long stepNanos, ProgressBar bar) {
        this.loader = loader;
        this.batches = batches;
        this.openedNanos = openedNanos;
        this.stepNanos = stepNanos;
        this.bar = bar;
        this.readable = loader.device().hostAccessible();
        this.fields = loader.layout().fields().toArray(TensorSpec[]::new);
    }

    Measured run(long warmup, long count) {
        return run(warmup, count, () -> { });
    }

    /** A run that says when its warm-up is over. */
    Measured run(long warmup, long count, Runnable warm) {
        boolean done = takeUpTo(warmup, 0, warmup + count) == warmup;
        warm.run();
        LoaderReport before = loader.report();
        long begin = System.nanoTime();
        long taken = done ? takeUpTo(count, warmup, warmup + count) : begun();
        long nanos = System.nanoTime() - begin;
        boolean interrupted = Thread.interrupted();
        return new Measured(taken, samples, bytes, nanos, firstBatchNanos, steps, waits,
                loader.report().since(before), loader.state(), interrupted || taken < count);
    }

    /** Forgets what was measured so far. */
    private long begun() {
        samples = 0;
        bytes = 0;
        steps = new DurationHistogram();
        waits = new DurationHistogram();
        return 0;
    }

    /** Takes batches, and says how many: fewer than wanted after an interrupt, which stays set. */
    private long takeUpTo(long count, long before, long total) {
        long taken = begun();
        try {
            while (taken < count && !Thread.currentThread().isInterrupted()) {
                take();
                taken++;
                bar.update(before + taken, total);
            }
        } catch (LoaderInterruptedException _) {
            // The batch that was waited for has not been given.
        }
        return taken;
    }

    private void take() {
        long begin = System.nanoTime();
        long got;
        try (Batch batch = batches.get()) {
            got = System.nanoTime();
            if (firstBatchNanos < 0) {
                firstBatchNanos = got - openedNanos;
            }
            samples += batch.count();
            bytes += batch.byteSize();
            if (readable) {
                touch(batch);
            }
            hold(got + stepNanos);
        }
        waits.record(got - begin);
        steps.record(System.nanoTime() - begin);
    }

    /** Reads one element of each field: a batch that nobody reads proves nothing. */
    private void touch(Batch batch) {
        for (TensorSpec field : fields) {
            Tensor tensor = batch.tensor(field.name());
            if (tensor.elementCount() > 0) {
                checksum += tensor.getDouble(0);
            }
        }
    }

    /** The stand-in for a step: the trainer's thread sleeps, as one does that waits for a GPU. */
    private static void hold(long untilNanos) {
        long left = untilNanos - System.nanoTime();
        while (left > 0 && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(left);
            left = untilNanos - System.nanoTime();
        }
    }

    /** A number that follows from the elements that were read. */
    double checksum() {
        return checksum;
    }
}
