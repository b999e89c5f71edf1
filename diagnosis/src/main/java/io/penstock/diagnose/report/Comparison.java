// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import io.penstock.diagnose.Cause;
import io.penstock.diagnose.Distribution;
import io.penstock.diagnose.Stage;
import io.penstock.diagnose.Summary;
import io.penstock.diagnose.Summary.CauseRow;
import io.penstock.diagnose.Summary.Fingerprint;
import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.diagnose.Summary.StageRow;
import io.penstock.diagnose.Verdict;
import io.penstock.text.NumberText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Compares a run with an earlier one.
 *
 * <p><b>Outcome.</b> The step counts first: it regressed if its mean is longer by at least the threshold and the 95 %
 * interval of the change excludes 0; improvement likewise. It is unchanged if the whole interval lies within the
 * threshold; otherwise the outcome is inconclusive. If the step is unchanged, a change of peak memory of at least 10 %
 * decides; if step and memory go opposite ways, the outcome is mixed. Runs with different data, batch sizes, machines,
 * or page cache states (one cold, one warm) are not comparable: inconclusive, unless mismatches are allowed.
 *
 * @param outcome the outcome
 * @param reason why, in a sentence
 * @param mismatches differences that make the runs incomparable
 * @param settings other differences, which may be intended
 * @param step the change of the step
 * @param measures step, waits, rates and memory
 * @param parts the parts of the mean step, in milliseconds: each cause of waiting, compute and the rest
 * @param stages the mean time of a batch in each stage, in milliseconds
 * @param before the earlier run's verdict
 * @param after the later run's verdict
 */
public record Comparison(Outcome outcome, String reason, List<Difference> mismatches, List<Difference> settings,
        StepChange step, List<Change> measures, List<Change> parts, List<Change> stages, Verdict before,
        Verdict after) {

    /** The default threshold for the change of the step. */
    public static final double THRESHOLD = 0.03;
    private static final double MEMORY_THRESHOLD = 0.10;

    /**
     * A difference between two runs.
     *
     * @param name what differs
     * @param before its value in the earlier run
     * @param after its value in the later one
     */
    public record Difference(String name, String before, String after) {

        @Override
        public String toString() {
            return name + " " + before + " → " + after;
        }
    }

    /**
     * Compares two runs.
     *
     * @param before the earlier one
     * @param after the later one
     * @param threshold the smallest change of the step that counts, for example {@link #THRESHOLD}
     * @return the comparison
     * @throws IllegalArgumentException if the threshold is not above 0 and below 1
     */
    public static Comparison of(Summary before, Summary after, double threshold) {
        return of(before, after, threshold, false);
    }

    /**
     * Compares two runs like {@link #of}, even if they are not comparable.
     *
     * @param before the earlier one
     * @param after the later one
     * @param threshold as for {@link #of}
     * @return the comparison
     * @throws IllegalArgumentException if the threshold is not above 0 and below 1
     */
    public static Comparison ofMismatched(Summary before, Summary after, double threshold) {
        return of(before, after, threshold, true);
    }

    private static Comparison of(Summary before, Summary after, double threshold, boolean allowMismatch) {
        if (!(threshold > 0 && threshold < 1)) {
            throw new IllegalArgumentException("threshold: found " + threshold
                    + ", expected more than 0 and less than 1");
        }
        List<Difference> mismatches = RunField.differences(RunField.GROUND, before.fingerprint(), after.fingerprint());
        StepChange step = StepChange.between(before.input().series(), after.input().series());
        Change memory = new Change("peak memory, MB", peakMegabytes(before), peakMegabytes(after));
        Outcome outcome;
        String reason;
        if (before.equals(after)) {
            outcome = Outcome.UNCHANGED;
            reason = "both are the same run";
        } else if (!mismatches.isEmpty() && !allowMismatch) {
            outcome = Outcome.INCONCLUSIVE;
            reason = "the runs are not comparable: "
                    + mismatches.stream().map(Difference::toString).collect(Collectors.joining(", "));
        } else if (Double.isNaN(step.ratio())) {
            outcome = Outcome.INCONCLUSIVE;
            reason = "too few steps to estimate the noise: " + before.input().series().size() + " and "
                    + after.input().series().size() + " points, expected at least " + StepChange.MIN_POINTS;
        } else {
            outcome = judge(ofStep(step, threshold), ofMemory(memory));
            reason = reason(outcome, step, threshold, memory);
        }
        List<Difference> settings = RunField.differences(RunField.SETTINGS, before.fingerprint(), after.fingerprint());
        return new Comparison(outcome, reason, mismatches, settings, step, measures(before, after, memory),
                parts(before, after), stages(before, after), before.findings().getFirst().verdict(),
                after.findings().getFirst().verdict());
    }

    /** {@return the one of {@link #parts} that changed most; empty if none was measured in both runs} */
    public Optional<Change> largestMover() {
        return parts.stream().filter(part -> !Double.isNaN(part.difference()))
                .max(Comparator.comparingDouble(part -> Math.abs(part.difference())));
    }

    private static Outcome ofStep(StepChange step, double threshold) {
        if (Math.abs(step.ratio()) >= threshold && step.isBeyondNoise()) {
            return step.ratio() > 0 ? Outcome.REGRESSION : Outcome.IMPROVEMENT;
        }
        boolean within = step.low() > -threshold && step.high() < threshold;
        return within ? Outcome.UNCHANGED : Outcome.INCONCLUSIVE;
    }

    private static Outcome ofMemory(Change memory) {
        return !(Math.abs(memory.ratio()) >= MEMORY_THRESHOLD) ? Outcome.UNCHANGED
                : memory.ratio() > 0 ? Outcome.REGRESSION : Outcome.IMPROVEMENT;
    }

    private static Outcome judge(Outcome step, Outcome memory) {
        if (step == Outcome.UNCHANGED) {
            return memory;
        }
        boolean opposite = step == Outcome.REGRESSION && memory == Outcome.IMPROVEMENT
                || step == Outcome.IMPROVEMENT && memory == Outcome.REGRESSION;
        return opposite ? Outcome.MIXED : step;
    }

    private static String reason(Outcome outcome, StepChange step, double threshold, Change memory) {
        String change = "the step changed by " + NumberText.change(step.ratio()) + " (95 % interval "
                + NumberText.change(step.low()) + " to " + NumberText.change(step.high()) + ")";
        return switch (outcome) {
            case INCONCLUSIVE -> change + ", within the noise: use longer runs";
            case UNCHANGED -> change + ", less than " + NumberText.percent(threshold);
            case REGRESSION, IMPROVEMENT, MIXED -> Math.abs(memory.ratio()) >= MEMORY_THRESHOLD
                    ? change + ", peak memory changed by " + NumberText.change(memory.ratio())
                    : change;
        };
    }

    // ---- the figures

    private static double peakMegabytes(Summary summary) {
        return summary.ranks().stream().mapToDouble(RankSteps::peakMemoryBytes).max().orElse(Double.NaN) / 1e6;
    }

    private static List<Change> measures(Summary before, Summary after, Change memory) {
        List<Change> changes = new ArrayList<>();
        changes.add(new Change("samples/s", before.input().samplesPerSecond(), after.input().samplesPerSecond()));
        addSpread(changes, "step", before.input().stepMillis(), after.input().stepMillis());
        addSpread(changes, "wait", before.input().waitMillis(), after.input().waitMillis());
        changes.add(new Change("wait for first batch, ms", before.input().coldStart().openMillis(),
                after.input().coldStart().openMillis()));
        changes.add(new Change("JVM pauses, % of steps", 100 * before.input().gc().stepShare(),
                100 * after.input().gc().stepShare()));
        changes.add(memory);
        return changes;
    }

    private static void addSpread(List<Change> changes, String name, Distribution before, Distribution after) {
        changes.add(new Change(name + " mean, ms", before.mean(), after.mean()));
        changes.add(new Change(name + " p50, ms", before.p50(), after.p50()));
        changes.add(new Change(name + " p95, ms", before.p95(), after.p95()));
        changes.add(new Change(name + " p99, ms", before.p99(), after.p99()));
    }

    private static List<Change> parts(Summary before, Summary after) {
        Stream<Change> waits = Stream.of(Cause.values())
                .map(cause -> new Change("wait: " + cause.label(), perStep(before, cause), perStep(after, cause)))
                .filter(Change::isMeasured);
        return Stream.concat(waits, Stream.of(
                new Change("compute", rank(before, RankSteps::computeMillis), rank(after, RankSteps::computeMillis)),
                new Change("residual", rank(before, RankSteps::residualMillis),
                        rank(after, RankSteps::residualMillis)))).toList();
    }

    private static double perStep(Summary summary, Cause cause) {
        return summary.input().causes().stream().filter(row -> row.cause() == cause)
                .mapToDouble(CauseRow::millis).sum() / Math.max(1, summary.input().stepMillis().count());
    }

    private static double rank(Summary summary, ToDoubleFunction<RankSteps> part) {
        return summary.ranks().stream().filter(row -> row.rank() == summary.input().rank())
                .mapToDouble(part).findFirst().orElse(Double.NaN);
    }

    private static List<Change> stages(Summary before, Summary after) {
        return Stream.of(Stage.values())
                .map(stage -> new Change(stage.label(), mean(before, stage), mean(after, stage)))
                .filter(Change::isMeasured).toList();
    }

    private static double mean(Summary summary, Stage stage) {
        return summary.input().stages().stream().filter(row -> row.stage() == stage).map(StageRow::millis)
                .mapToDouble(Distribution::mean).findFirst().orElse(Double.NaN);
    }

    /** One condition of a run. */
    private record RunField(String name, Function<Fingerprint, @Nullable Object> value) {

        /** Runs that differ in one of these are not comparable. */
        static final List<RunField> GROUND = List.of(
                new RunField("dataset", Fingerprint::dataset),
                new RunField("batch size", Fingerprint::batchSize),
                new RunField("world size", Fingerprint::worldSize),
                new RunField("page cache", Fingerprint::cacheState),
                new RunField("operating system", Fingerprint::os),
                new RunField("cores", Fingerprint::cores),
                new RunField("device", Fingerprint::gpu));

        /** Settings that are changed to see the effect. */
        static final List<RunField> SETTINGS = List.of(
                new RunField("penstock", Fingerprint::penstock),
                new RunField("JDK", Fingerprint::jdk),
                new RunField("driver", Fingerprint::driver),
                new RunField("workers", Fingerprint::workers),
                new RunField("host slots", Fingerprint::hostSlots),
                new RunField("device slots", Fingerprint::deviceSlots),
                new RunField("read mode", Fingerprint::readMode));

        static List<Difference> differences(List<RunField> fields, Fingerprint before, Fingerprint after) {
            return fields.stream()
                    .filter(field -> !Objects.equals(field.value.apply(before), field.value.apply(after)))
                    .map(field -> new Difference(field.name, String.valueOf(field.value.apply(before)),
                            String.valueOf(field.value.apply(after))))
                    .toList();
        }
    }
}
