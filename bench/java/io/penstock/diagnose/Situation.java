// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.LongUnaryOperator;
import java.util.function.ToDoubleFunction;

/**
 * A loader and a trainer with a fault, or without one, and what a diagnosis has to say of them.
 *
 * @param name what is wrong
 * @param injected what was put in, for the table
 * @param loader the loader's settings: with the fault, which is timed by the clock, or without it
 * @param trainer what takes the batches
 * @param verdict the verdict to be found, which must not be found without the fault
 * @param cause the cause that waiting for input must be laid to; null where the trainer must not be found to wait
 * @param constructed the verdict's share of the step, worked out from what was put in; NaN where it cannot be
 * @param timed the same, by the clock
 */
record Situation(String name, String injected, BiFunction<FaultClock, Boolean, DataLoaderBuilder> loader,
        Trainer trainer, Verdict verdict, String cause, double constructed, ToDoubleFunction<FaultClock> timed) {

    static final long MILLI = 1_000_000;

    /**
     * A trainer, which sleeps. The fault may be in it.
     *
     * @param hold nanoseconds with each batch, by the number of the step
     * @param between nanoseconds between giving back a batch and asking for the next
     * @param holds batches that it keeps at a time
     * @param batches steps
     */
    record Trainer(LongUnaryOperator hold, LongUnaryOperator between, int holds, int batches) {

        static Trainer holding(double millis, int batches) {
            return new Trainer(_ -> (long) (millis * MILLI), _ -> 0, 1, batches);
        }

        Trainer without() {
            return new Trainer(_ -> hold.applyAsLong(1), _ -> 0, holds, batches);
        }
    }

    /** What came of a run. */
    record Outcome(Summary summary, FaultClock clock) {

        Finding finding(Verdict verdict) {
            return summary.findings().stream().filter(found -> found.verdict() == verdict).findFirst().orElse(null);
        }
    }

    static void sleep(long nanos) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    Outcome run(boolean faulty) {
        var clock = new FaultClock();
        Trainer training = faulty ? trainer : trainer.without();
        try (DataLoader opened = loader.apply(clock, faulty).open(); Diagnosis diagnosis = Diagnosis.of(opened)) {
            Deque<Batch> held = new ArrayDeque<>();
            long requested = System.nanoTime();
            for (int i = 0; i < training.batches(); i++) {
                held.add(opened.next());
                long taken = System.nanoTime();
                sleep(training.hold().applyAsLong(i));
                if (held.size() == training.holds()) {
                    held.remove().close();
                }
                long released = System.nanoTime();
                sleep(training.between().applyAsLong(i));
                clock.step(requested, taken, released);
                requested = System.nanoTime();
            }
            clock.end();
            held.forEach(Batch::close);
            return new Outcome(diagnosis.summary(), clock);
        }
    }
}
