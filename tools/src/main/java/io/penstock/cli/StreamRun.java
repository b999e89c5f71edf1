// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.device.DeviceStream;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LoaderInterruptedException;
import io.penstock.state.LoaderState;
import io.penstock.telemetry.LoaderReport;
import io.penstock.tune.StandInTrainer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes batches from a loader as a trainer does, holds each for the time of a step, and measures how that goes. An
 * interrupt ends it at a batch's end.
 */
final class StreamRun {

    private final DataLoader loader;
    private final StandInTrainer trainer;
    private final long openedNanos;
    private final ProgressBar bar;
    private final BooleanSupplier hasNext;

    /** Whether a stream has ended. */
    private boolean isOver;
    private long firstBatchNanos = -1;
    private long samples;
    private long bytes;
    private DurationHistogram steps = new DurationHistogram();
    private DurationHistogram waits = new DurationHistogram();

    /**
     * The measurements after the warm-up.
     *
     * @param steps batches taken and given back
     * @param bytes of them, as they are moved to the device
     * @param nanos from the first step's begin to the last one's end
     * @param firstBatchNanos from before the loader was opened until the first batch was there; -1 if none came
     * @param waitTimes within the steps, in {@link DataLoader#next()}
     * @param end the loader's state afterwards
     */
    record Measured(long steps, long samples, long bytes, long nanos, long firstBatchNanos,
            DurationHistogram stepTimes, DurationHistogram waitTimes, LoaderReport loader, LoaderState end,
            boolean interrupted) {
    }

    /** Takes the time just before the loader opened, and how long to hold a batch. */
    StreamRun(DataLoader loader, long openedNanos, long stepNanos, ProgressBar bar) {
        this(loader, null, openedNanos, stepNanos, bar);
    }

    /** A run that takes its batches on a stream, if there is one. */
    StreamRun(DataLoader loader, @Nullable DeviceStream stream, long openedNanos, long stepNanos, ProgressBar bar) {
        this(loader, batches(loader, stream), loader::hasNext, openedNanos, stepNanos, bar);
    }

    /** Gives the next batch, once its bytes are there for this thread too. */
    private static Supplier<Batch> batches(DataLoader loader, @Nullable DeviceStream stream) {
        if (stream == null) {
            return loader::next;
        }
        return () -> {
            Batch batch = loader.next(stream);
            stream.synchronize();
            return batch;
        };
    }

    /** A run that takes its batches from elsewhere, such as a replay. */
    StreamRun(DataLoader loader, Supplier<Batch> batches, BooleanSupplier hasNext, long openedNanos, long stepNanos,
            ProgressBar bar) {
        this.hasNext = hasNext;
        this.loader = loader;
        this.trainer = new StandInTrainer(loader, batches, stepNanos);
        this.openedNanos = openedNanos;
        this.bar = bar;
    }

    Measured run(long warmup, long count) {
        return run(warmup, count, () -> { });
    }

    /** Runs, and calls back when the warm-up is over. */
    Measured run(long warmup, long count, Runnable warm) {
        boolean done = takeUpTo(warmup, 0, warmup + count) == warmup || isOver;
        warm.run();
        LoaderReport before = loader.report();
        long begin = System.nanoTime();
        long taken = done ? takeUpTo(count, warmup, warmup + count) : begun();
        long nanos = System.nanoTime() - begin;
        boolean interrupted = Thread.interrupted();
        return new Measured(taken, samples, bytes, nanos, firstBatchNanos, steps, waits,
                loader.report().since(before), loader.state(), interrupted || taken < count && !isOver);
    }

    /** Forgets what was measured so far. */
    private long begun() {
        samples = 0;
        bytes = 0;
        steps = new DurationHistogram();
        waits = new DurationHistogram();
        return 0;
    }

    /** Takes batches and returns their number: fewer than wanted after an interrupt, which stays set. */
    private long takeUpTo(long count, long before, long total) {
        long taken = begun();
        try {
            while (taken < count && !Thread.currentThread().isInterrupted()) {
                if (!hasNext.getAsBoolean()) {
                    isOver = true;
                    break;
                }
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
        trainer.step();
        if (firstBatchNanos < 0) {
            firstBatchNanos = trainer.gotAt() - openedNanos;
        }
        samples += trainer.samples();
        bytes += trainer.bytes();
        waits.record(trainer.waitNanos());
        steps.record(System.nanoTime() - begin);
    }
}
