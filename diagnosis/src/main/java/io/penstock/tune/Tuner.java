// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * Searches settings one coordinate at a time: workers, read mode, prefetch, device slots. Each is a {@link Race} of its
 * values with the others fixed. A final race compares the search's result, the same with one worker fewer and one more,
 * and the loader's defaults. The coordinates are ordered by effect and hardly depend on each other; a full grid would
 * spend the budget on settings that nobody wants.
 *
 * <p>The seed determines the order of the rounds. Not thread-safe; an interrupt ends the search early.
 */
public final class Tuner {

    /** A wait below this share of the step, or below this many nanoseconds, counts as hidden. */
    private static final double HIDDEN_SHARE = 0.01;
    private static final double HIDDEN_NANOS = 20_000;
    private static final long LEAST_ROUND_NANOS = 10_000_000;
    private static final long MOST_ROUND_NANOS = 1_000_000_000;
    private static final int ROUNDS_PLANNED = 14;
    private static final double WARM_UP_SHARE = 0.12;
    private static final int WARM_UP_TURNS = 3;
    private static final int STEP_ROUNDS = 5;
    private static final int STEP_SETTINGS = 8;
    private static final long STEPS_IN_A_ROUND = 10;
    /** The share of the throughput a step needs from which a setting is measured beside it. */
    private static final double ENOUGH = 0.9;

    private final Workbench bench;
    private final SearchSpace space;
    private final SearchPoint standard;
    private long budgetNanos = 60_000_000_000L;
    private long memoryBytes = Long.MAX_VALUE;
    private long stepNanos;
    private long seed = 42;
    private LongConsumer progress = _ -> { };

    private SplittableRandom random = new SplittableRandom(seed);
    private long beginNanos;
    private long roundNanos;
    private long rounds;
    private int overMemory;
    private boolean interrupted;
    /** Known once a loader has run beside the step. */
    private double samplesInAStep;

    /**
     * Creates a tuner.
     *
     * @param bench measures settings
     * @param space the values to try
     * @param standard the setting to start from and compare with: the loader's defaults
     */
    public Tuner(Workbench bench, SearchSpace space, SearchPoint standard) {
        this.bench = Objects.requireNonNull(bench, "bench");
        this.space = Objects.requireNonNull(space, "space");
        this.standard = Objects.requireNonNull(standard, "standard");
    }

    /**
     * Sets how long to search. Default: a minute.
     *
     * @param nanos at least 1; the last round may exceed it
     * @return this
     */
    public Tuner budgetNanos(long nanos) {
        this.budgetNanos = checked(nanos, "budget");
        return this;
    }

    /**
     * Limits the memory of a setting's slots, host and device together. Default: no limit.
     *
     * @param bytes at least 1; settings that need more are not opened
     * @return this
     */
    public Tuner memoryBytes(long bytes) {
        this.memoryBytes = checked(bytes, "memory");
        return this;
    }

    /**
     * Sets the trainer's step time: the search then finds the cheapest setting that fully overlaps loading with it.
     *
     * @param nanos the step time
     * @return this
     */
    public Tuner stepNanos(long nanos) {
        this.stepNanos = checked(nanos, "step");
        return this;
    }

    /**
     * Sets the seed of the rounds' order.
     *
     * @param number any number
     * @return this
     */
    public Tuner seed(long number) {
        this.seed = number;
        return this;
    }

    /**
     * Sets a listener for the search's progress.
     *
     * @param spentNanos receives the time spent of the budget
     * @return this
     */
    public Tuner progress(LongConsumer spentNanos) {
        this.progress = Objects.requireNonNull(spentNanos, "progress");
        return this;
    }

    private static long checked(long value, String what) {
        if (value < 1) {
            throw new IllegalArgumentException(what + ": found " + value + ", expected at least 1");
        }
        return value;
    }

    /** {@return the nanoseconds of one round, derived from the budget and the number of settings} */
    public long roundNanos() {
        long settings = space.workers().size() + space.readModes().size() + space.prefetch().size()
                + (space.deviceSlots().size() > 1 ? space.deviceSlots().size() : 0) + 4
                + (stepNanos > 0 ? STEP_SETTINGS / 2 : 0);
        return Math.clamp(budgetNanos / settings / ROUNDS_PLANNED, LEAST_ROUND_NANOS, MOST_ROUND_NANOS);
    }

    /**
     * Runs the search.
     *
     * @return the result
     * @throws IllegalArgumentException if even the smallest setting needs more memory than allowed
     * @throws IOException if the data cannot be opened
     */
    public Tuning run() throws IOException {
        random = new SplittableRandom(seed);
        beginNanos = bench.nanoTime();
        roundNanos = roundNanos();
        List<Curve> curves = new ArrayList<>();
        SearchPoint best = affordable(standard);
        warmUp(best);

        best = race(curves, "workers", best, 0.4, space.workers(), SearchPoint::workers,
                (base, value) -> base.withWorkers(value, prefetchFor(value)));
        best = race(curves, "read", best, 0.3, space.readModes(), candidate -> candidate.readMode().ordinal(),
                SearchPoint::withReadMode);
        if (best.workers() > 0) {
            best = race(curves, "prefetch", best, 0.6, space.prefetch(), SearchPoint::prefetch,
                    SearchPoint::withPrefetch);
        }
        if (space.deviceSlots().size() > 1) {
            best = race(curves, "device_slots", best, 0.5, space.deviceSlots(), SearchPoint::deviceSlots,
                    SearchPoint::withDeviceSlots);
        }
        SearchPoint found = finals(curves, best);
        if (found.workers() > best.workers()) {
            found = race(curves, "prefetch", found, 1, space.prefetch(), SearchPoint::prefetch,
                    SearchPoint::withPrefetch);
        }
        best = found;
        List<Tuning.StepWait> waits = new ArrayList<>();
        boolean hidden = false;
        if (stepNanos > 0 && !curves.isEmpty()) {
            best = besideStep(curves, best, waits);
            hidden = waits.stream().anyMatch(Tuning.StepWait::hidden);
        }
        return new Tuning(curves.isEmpty() ? null : best, standard, curves, waits, stepNanos, hidden, overMemory,
                rounds, bench.nanoTime() - beginNanos, interrupted);
    }

    private interface Change<T> {
        SearchPoint with(SearchPoint base, T value);
    }

    /** The prefetch for a number of workers while it is not searched: the default, or two per worker. */
    private int prefetchFor(int workers) {
        return workers == 0 ? 1 : Math.max(standard.prefetch(), 2 * workers);
    }

    private <T> SearchPoint race(List<Curve> curves, String setting, SearchPoint base, double shareOfRest,
            List<T> values, ToIntFunction<SearchPoint> coordinate, Change<T> change) throws IOException {
        List<SearchPoint> candidates = Stream.concat(Stream.of(base), values.stream()
                .map(value -> change.with(base, value))
                .filter(candidate -> coordinate.applyAsInt(candidate) != coordinate.applyAsInt(base))).toList();
        return race(curves, setting, base, shareOfRest, candidates);
    }

    private SearchPoint race(List<Curve> curves, String setting, SearchPoint base, double shareOfRest,
            List<SearchPoint> candidates) throws IOException {
        List<SearchPoint> affordable = candidates.stream().distinct()
                .filter(candidate -> bench.memoryBytes(candidate) <= memoryBytes).toList();
        overMemory += candidates.size() - affordable.size();
        long now = bench.nanoTime();
        long restNanos = beginNanos + stepShare() - now;
        if (affordable.size() < 2 || interrupted || restNanos < roundNanos) {
            return base;
        }
        Race race = new Race(bench, affordable, random);
        race.run(roundNanos, now + (long) (restNanos * shareOfRest), now + restNanos, this::roundDone);
        interrupted |= race.wasInterrupted();
        Curve curve = race.curve(setting);
        if (curve == null) {
            return base;
        }
        curves.add(curve);
        return curve.chosen().candidate();
    }

    /** The races' share of the budget. */
    private long stepShare() {
        return stepNanos > 0 ? budgetNanos / 4 * 3 : budgetNanos;
    }

    private SearchPoint finals(List<Curve> curves, SearchPoint best) throws IOException {
        List<SearchPoint> finalists = new ArrayList<>(List.of(best, standard));
        int at = space.workers().indexOf(best.workers());
        for (int neighbor : new int[] {at - 1, at + 1}) {
            if (at >= 0 && neighbor >= 0 && neighbor < space.workers().size()) {
                int workers = space.workers().get(neighbor);
                finalists.add(best.withWorkers(workers, workers == 0 ? 1 : Math.max(best.prefetch(), workers)));
            }
        }
        return race(curves, "final", best, 1, finalists);
    }

    private SearchPoint affordable(SearchPoint wanted) {
        SearchPoint candidate = wanted;
        while (bench.memoryBytes(candidate) > memoryBytes && (candidate.prefetch() > 1 || candidate.workers() > 0)) {
            candidate = candidate.prefetch() > 1 ? candidate.withPrefetch(candidate.prefetch() / 2)
                    : candidate.withWorkers(candidate.workers() - 1, 1);
        }
        if (bench.memoryBytes(candidate) > memoryBytes) {
            throw new IllegalArgumentException("memory: found a limit of " + memoryBytes
                    + " bytes, expected at least " + bench.memoryBytes(candidate) + ", the smallest setting");
        }
        return candidate;
    }

    /** Lets the JVM compile the rounds' code, with all worker counts and read modes, before any round counts. */
    private void warmUp(SearchPoint best) throws IOException {
        List<SearchPoint> all = Stream.concat(
                space.workers().stream().map(count -> best.withWorkers(count, prefetchFor(count))),
                space.readModes().stream().map(best::withReadMode)).distinct()
                .filter(candidate -> bench.memoryBytes(candidate) <= memoryBytes).toList();
        long nanos = Math.clamp((long) (budgetNanos * WARM_UP_SHARE / all.size() / WARM_UP_TURNS),
                LEAST_ROUND_NANOS, MOST_ROUND_NANOS);
        try {
            for (int turn = 0; turn < WARM_UP_TURNS; turn++) {
                for (SearchPoint candidate : all) {
                    bench.measure(candidate, nanos, 0);
                    roundDone();
                }
            }
        } catch (InterruptedException _) {
            interrupted = true;
        }
    }

    private void roundDone() {
        rounds++;
        progress.accept(bench.nanoTime() - beginNanos);
    }

    /**
     * Tries settings beside the step, cheapest first, until one hides the loading or time is up. Skips settings whose
     * throughput alone rules them out, except the cheapest of all.
     */
    private SearchPoint besideStep(List<Curve> curves, SearchPoint fastest, List<Tuning.StepWait> waits)
            throws IOException {
        Map<SearchPoint, Measured> tried = new TreeMap<>(SearchPoint.BY_COST);
        curves.forEach(curve -> curve.points().forEach(point -> tried.put(point.candidate(), point)));
        Measured best = tried.remove(fastest);
        List<Measured> order = new ArrayList<>(tried.values());
        order.add(best);
        try {
            for (Measured point : order) {
                boolean late = bench.nanoTime() - beginNanos >= budgetNanos;
                boolean tooSlow = point.samplesPerSecond() * stepNanos / 1e9 < ENOUGH * samplesInAStep;
                if (interrupted || point != best && (late || tooSlow)) {
                    continue;
                }
                Tuning.StepWait wait = wait(point.candidate());
                waits.add(wait);
                if (wait.hidden()) {
                    return wait.candidate();
                }
            }
        } catch (InterruptedException _) {
            interrupted = true;
        }
        return waits.stream().min(Comparator.comparingDouble(Tuning.StepWait::waitNanos))
                .map(Tuning.StepWait::candidate).orElse(fastest);
    }

    private Tuning.StepWait wait(SearchPoint candidate) throws InterruptedException, IOException {
        double[] waits = new double[STEP_ROUNDS];
        for (int i = 0; i < waits.length; i++) {
            Round round = bench.measure(candidate, Math.max(roundNanos, STEPS_IN_A_ROUND * stepNanos), stepNanos);
            waits[i] = round.meanWaitNanos();
            samplesInAStep = (double) round.samples() / Math.max(1, round.steps());
            roundDone();
        }
        Arrays.sort(waits);
        double median = PairedRounds.median(waits);
        return new Tuning.StepWait(candidate, bench.memoryBytes(candidate), median, waits.length,
                median <= Math.max(HIDDEN_NANOS, HIDDEN_SHARE * stepNanos));
    }
}
