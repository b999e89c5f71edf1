// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.telemetry.Phase;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Timed input of any library.
 *
 * <pre>
 *   step   |────────────────────────────────────────────────|
 *   source |─ hasNext ─|   |─ next ─|                       |─ hasNext ─| …
 *   marks                            |─ COPY ─||─ COMPUTE ─|
 * </pre>
 *
 * <p>A step lasts from the first call to the source for its input to the first call for the next input. The time within
 * these calls is the input wait. Without marks, the rest of the step is compute; with marks, time outside them is
 * residual. Marks use the thread's clock: for a copy or kernel that is only enqueued, they measure the enqueuing,
 * unless the trainer synchronizes its stream within them.
 *
 * <p><b>Threads.</b> One thread at a time iterates and marks. Any thread may make a summary.
 *
 * @param <T> the input of a step
 */
public final class DiagnosedInput<T> implements Iterable<T>, AutoCloseable {

    private static final int PROBE_STEPS = 2048;
    private static final int PROBE_ROUNDS = 8;

    private final Supplier<Iterator<? extends T>> epochs;
    private final LongSupplier clock;
    private final StepLog log = new StepLog();
    private final GcPauses pauses = new GcPauses();
    private String name = "input";
    private int rank;
    private int worldSize = 1;
    private ToIntFunction<? super T> samples = _ -> 1;

    /** Confined to the iterating thread. */
    private long epoch = -1;
    private boolean asking;
    private long askedAt;
    private long waitNanos;
    private boolean inStep;
    private final StepLog.Row step = new StepLog.Row();
    private @Nullable Phase phase;
    private long phaseBegan;

    DiagnosedInput(Supplier<Iterator<? extends T>> epochs, LongSupplier clock) {
        this.epochs = epochs;
        this.clock = clock;
    }

    // ---- settings

    /**
     * Sets the run's name. Default {@code input}.
     *
     * @param run any text
     * @return this
     */
    public DiagnosedInput<T> named(String run) {
        this.name = Objects.requireNonNull(run, "run");
        return this;
    }

    /**
     * Sets how to count the samples in a step's input. Default: 1, so that steps are counted.
     *
     * @param count counts the samples
     * @return this
     */
    public DiagnosedInput<T> counting(ToIntFunction<? super T> count) {
        this.samples = Objects.requireNonNull(count, "count");
        return this;
    }

    /**
     * Sets this process's rank among those that train together, so that their summaries can be
     * {@linkplain Summary#merge merged}. Default: the only one.
     *
     * @param rank from 0
     * @param worldSize the number of processes
     * @return this
     */
    public DiagnosedInput<T> ofRank(int rank, int worldSize) {
        this.rank = Objects.checkIndex(rank, worldSize);
        this.worldSize = worldSize;
        return this;
    }

    /** Discards everything so far, as a warm-up. */
    public void restart() {
        log.clear();
    }

    // ---- the input

    /** {@return the source's input of one epoch, timed} */
    @Override
    public Iterator<T> iterator() {
        endStep(clock.getAsLong());
        Iterator<? extends T> source = epochs.get();
        epoch++;
        return new Epoch(source);
    }

    private final class Epoch implements Iterator<T> {

        private final Iterator<? extends T> source;
        private boolean first = true;

        Epoch(Iterator<? extends T> source) {
            this.source = source;
        }

        @Override
        public boolean hasNext() {
            long begin = ask();
            boolean more = false;
            try {
                more = source.hasNext();
            } finally {
                answered(begin, more);
            }
            return more;
        }

        @Override
        public T next() {
            long begin = ask();
            T item;
            try {
                item = source.next();
            } finally {
                answered(begin, false);
            }
            beginStep(samples.applyAsInt(item), first);
            first = false;
            return item;
        }
    }

    /** The first call after the last input was returned ends that input's step. */
    long ask() {
        long now = clock.getAsLong();
        if (!asking) {
            endStep(now);
            asking = true;
            askedAt = now;
            waitNanos = 0;
        }
        return now;
    }

    /** A call that began at a time has returned; whether another one follows for the same input. */
    void answered(long begin, boolean goesOn) {
        waitNanos += clock.getAsLong() - begin;
        asking = goesOn;
    }

    /** The input of a step is there, the first one of an epoch or another one. */
    void beginStep(int count, boolean first) {
        inStep = true;
        step.requestedAt = askedAt;
        step.waitNanos = waitNanos;
        step.samples = count;
        step.epoch = epoch;
        step.first = first;
        Arrays.fill(step.phaseNanos, 0);
    }

    /** An epoch begins that has no iterator. */
    void beginEpoch() {
        epoch++;
    }

    private void endStep(long now) {
        if (inStep) {
            endPhase(now);
            inStep = false;
            step.nanos = now - step.requestedAt;
            log.add(step);
        }
    }

    // ---- marks

    /**
     * Begins a phase of the step and ends the previous one. Outside of a step it has no effect.
     *
     * @param next the phase
     */
    public void begin(Phase next) {
        long now = clock.getAsLong();
        endPhase(now);
        phase = inStep ? Objects.requireNonNull(next, "next") : null;
        phaseBegan = now;
    }

    /** Ends the phase. */
    public void end() {
        endPhase(clock.getAsLong());
    }

    private void endPhase(long now) {
        if (phase != null) {
            log.mark(phase);
            step.phaseNanos[phase.ordinal()] += now - phaseBegan;
            phase = null;
        }
    }

    // ---- results

    /** {@return a diagnosis of the complete steps so far; its {@code input_pipeline} has no stages, causes or slots} */
    public Summary summary() {
        List<StepLog.Row> rows = log.rows();
        long since = rows.isEmpty() ? Long.MAX_VALUE : rows.getFirst().requestedAt;
        Summary summary = new InputSummarizer(rows, log.marked(), pauses.since(since))
                .summary(name, rank, worldSize, nanosPerStep());
        FlightReport.of(summary);
        return summary;
    }

    private static double nanosPerStep() {
        List<Integer> nothing = Collections.nCopies(PROBE_STEPS, 0);
        long best = Long.MAX_VALUE;
        try (DiagnosedInput<Integer> scratch = Diagnose.wrap(nothing)) {
            for (int round = 0; round < PROBE_ROUNDS; round++) {
                long begin = System.nanoTime();
                for (Integer _ : scratch) {
                    scratch.begin(Phase.COMPUTE);
                    scratch.end();
                }
                best = Math.min(best, System.nanoTime() - begin);
            }
        }
        return (double) best / PROBE_STEPS;
    }

    /** Stops listening to the garbage collectors. Does not close the source. Repeating it has no effect. */
    @Override
    public void close() {
        pauses.close();
    }
}
