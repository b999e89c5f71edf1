// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.StepLog.Row;
import io.penstock.diagnose.Summary.ColdStart;
import io.penstock.diagnose.Summary.Fingerprint;
import io.penstock.diagnose.Summary.Gc;
import io.penstock.diagnose.Summary.InputPipeline;
import io.penstock.diagnose.Summary.Overhead;
import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.diagnose.Summary.StepPoint;
import io.penstock.diagnose.Summary.Tail;
import io.penstock.telemetry.Phase;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/** Summarizes another library's input: its steps, but not what is behind them. */
final class InputSummarizer {

    private static final double SLOW = 2;

    private final List<Row> rows;
    /** Excludes the first steps of epochs, unless there are no others. */
    private final List<Row> steady;
    private final Set<Phase> marked;
    private final List<Recording.Stretch> pauses;
    private final double stepNanos;

    InputSummarizer(List<Row> rows, Set<Phase> marked, List<Recording.Stretch> pauses) {
        this.rows = rows;
        List<Row> others = rows.stream().filter(row -> !row.first).toList();
        this.steady = others.isEmpty() ? rows : others;
        this.marked = marked;
        this.pauses = pauses;
        this.stepNanos = steady.stream().mapToDouble(row -> row.nanos).sum();
    }

    Summary summary(String run, int rank, int worldSize, double nanosPerStep) {
        List<RankSteps> ranks = rows.isEmpty() ? List.of() : List.of(steps(rank));
        List<Finding> findings = StepRules.judge(ranks, ranks.size(), "cpu").stream()
                .map(InputSummarizer::withAction).toList();
        double step = mean(row -> row.nanos);
        return new Summary(run, Instant.now(), durationSeconds(), fingerprint(worldSize), "cpu", ranks, findings,
                input(rank), new Overhead(nanosPerStep, step > 0 ? nanosPerStep / step : Double.NaN));
    }

    /** Adds the advice for input whose causes are not visible. */
    private static Finding withAction(Finding finding) {
        return finding.verdict() != Verdict.INPUT_BOUND ? finding : finding.withAction(
                "Give the input more threads, or let it prefetch more; the causes are not visible here.");
    }

    private double durationSeconds() {
        return rows.isEmpty() ? 0
                : (rows.getLast().requestedAt + rows.getLast().nanos - rows.getFirst().requestedAt) / 1e9;
    }

    // ---- the step

    private boolean computesInPhases() {
        return marked.stream().anyMatch(phase -> phase != Phase.COPY);
    }

    private double computeNanos(Row row) {
        return computesInPhases() ? row.nanos(Phase.COMPUTE) + row.nanos(Phase.FORWARD) + row.nanos(Phase.BACKWARD)
                + row.nanos(Phase.OPTIMIZER) : Math.max(0, row.nanos - row.waitNanos - row.nanos(Phase.COPY));
    }

    private double residualNanos(Row row) {
        return Math.max(0, row.nanos - row.waitNanos - row.nanos(Phase.COPY) - computeNanos(row));
    }

    private RankSteps steps(int rank) {
        return new RankSteps(rank, Summarizer.hostName(), steady.size(), rows.getFirst().number,
                rows.getLast().number, millis(row -> row.nanos), millis(row -> row.waitNanos),
                millis(row -> row.waitNanos), millis(Phase.COPY), millis(this::computeNanos), millis(Phase.FORWARD),
                millis(Phase.BACKWARD), millis(Phase.OPTIMIZER), millis(this::residualNanos), 0);
    }

    private double mean(ToDoubleFunction<Row> nanos) {
        return steady.stream().mapToDouble(nanos).average().orElse(Double.NaN);
    }

    private double millis(ToDoubleFunction<Row> nanos) {
        return mean(nanos) / 1e6;
    }

    private double millis(Phase phase) {
        return marked.contains(phase) ? millis(row -> row.nanos(phase)) : Double.NaN;
    }

    // ---- the input

    private InputPipeline input(int rank) {
        return new InputPipeline(rank, "train", samplesPerSecond(steady), Double.NaN, spread(steady, row -> row.nanos),
                spread(steady, row -> row.waitNanos), null, List.of(), List.of(), List.of(), null,
                Distribution.NONE, coldStart(), tail(), gc(), Double.NaN, null, List.of(),
                Summarizer.series(rows, this::point), List.of());
    }

    private double samplesPerSecond(List<Row> of) {
        double nanos = of.stream().mapToDouble(row -> row.nanos).sum();
        return nanos == 0 ? Double.NaN : of.stream().mapToLong(row -> row.samples).sum() / nanos * 1e9;
    }

    private static Distribution spread(List<Row> of, ToDoubleFunction<Row> nanos) {
        return Distribution.of(of.stream().mapToDouble(row -> nanos.applyAsDouble(row) / 1e6).toArray());
    }

    private ColdStart coldStart() {
        return ColdStart.of(rows.stream().filter(row -> row.first).mapToDouble(row -> row.waitNanos / 1e6).toArray());
    }

    private Tail tail() {
        double median = spread(steady, row -> row.nanos).p50() * 1e6;
        List<Row> slow = steady.stream().filter(row -> row.nanos > SLOW * median).toList();
        double nanos = slow.stream().mapToDouble(row -> row.nanos).sum();
        return new Tail(slow.size(), stepNanos == 0 ? 0 : nanos / stepNanos, 0);
    }

    private Gc gc() {
        return Gc.of(pauses, steady.stream().mapToDouble(row ->
                Intervals.overlapNanos(pauses, row.requestedAt, row.requestedAt + row.nanos)).sum(), stepNanos);
    }

    private StepPoint point(List<Row> part) {
        Distribution waits = spread(part, row -> row.waitNanos);
        return new StepPoint(part.getFirst().number, part.size(),
                (part.getFirst().requestedAt - rows.getFirst().requestedAt) / 1e9, part.getFirst().epoch,
                spread(part, row -> row.nanos).mean(), waits.mean(), waits.max(), samplesPerSecond(part), Double.NaN,
                null);
    }

    private Fingerprint fingerprint(int worldSize) {
        int batchSize = steady.stream().mapToInt(row -> row.samples).max().orElse(0);
        return Fingerprint.of(Runtime.getRuntime().availableProcessors(), null, null, batchSize, worldSize, 0, 0, 0,
                null, "unknown");
    }
}
