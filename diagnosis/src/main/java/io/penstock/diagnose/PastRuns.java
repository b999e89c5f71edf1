// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Summary.CauseRow;
import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.diagnose.Summary.StepPoint;
import io.penstock.json.Json;
import io.penstock.text.NumberText;
import io.penstock.text.TimeText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What earlier runs took, and whether a later one differs from them by more than they differ from each other.
 *
 * <p>The step of the later run is compared with their median. The noise is the spread of the runs, as the half width of
 * a 95 % prediction interval of one more run (Student's distribution), and that of the later run's own mean, from the
 * means of {@value #BLOCKS} parts of it. A change counts beyond both the noise and {@value #LEAST_CHANGE}; beyond
 * {@value #LEAST_CHANGE_OF_FEW} if there are fewer than {@value #FEW} runs, whose spread says little.
 *
 * @param runs the earlier runs, in order
 */
public record PastRuns(List<PastRun> runs) {

    /** The smallest change of a step that counts, as a share of it. */
    public static final double LEAST_CHANGE = 0.03;
    /** The same if there are fewer than {@link #FEW} earlier runs. */
    public static final double LEAST_CHANGE_OF_FEW = 0.10;
    /** Fewer runs than this say little about their spread. */
    public static final int FEW = 3;
    private static final int BLOCKS = 10;
    /** The 97.5 % points of Student's distribution with 1 to 10 degrees of freedom, and with more. */
    private static final double[] STUDENT = {12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
    private static final double NORMAL = 1.96;

    /** Copies the list. */
    public PastRuns {
        runs = List.copyOf(runs);
    }

    /**
     * What one run took.
     *
     * @param name its name
     * @param at when it was recorded, as text
     * @param steps number of steps
     * @param stepMillis their mean
     * @param errorMillis the standard error of the mean; NaN for too few steps to tell
     * @param parts where the mean step goes: causes of waiting, {@code compute}, {@code residual}
     * @param slower whether it was slower than its own past, so that it is no measure for others
     */
    public record PastRun(String name, String at, long steps, double stepMillis, double errorMillis,
            List<PastPart> parts, boolean slower) {

        /** Copies the list. */
        public PastRun {
            parts = List.copyOf(parts);
        }

        /**
         * {@return what a summary says of a run}
         *
         * @param summary the run
         */
        public static PastRun of(Summary summary) {
            List<PastPart> parts = new ArrayList<>();
            double steps = Math.max(1, summary.input().stepMillis().count());
            for (CauseRow row : summary.input().causes()) {
                parts.add(new PastPart("wait: " + row.cause().label(), row.millis() / steps));
            }
            Optional<RankSteps> rank = summary.ranks().stream()
                    .filter(row -> row.rank() == summary.input().rank()).findFirst();
            rank.ifPresent(row -> {
                parts.add(new PastPart("compute", row.computeMillis()));
                parts.add(new PastPart("residual", row.residualMillis()));
            });
            return new PastRun(summary.run(), summary.generatedAt().toString(), summary.input().stepMillis().count(),
                    summary.input().stepMillis().mean(), error(summary.input().series()), parts, false);
        }

        /** The standard error of the mean, from the means of consecutive parts: neighbors are alike. */
        private static double error(List<StepPoint> series) {
            if (series.size() < 2 * BLOCKS) {
                return Double.NaN;
            }
            double[] means = new double[BLOCKS];
            for (int b = 0; b < BLOCKS; b++) {
                means[b] = series.subList(b * series.size() / BLOCKS, (b + 1) * series.size() / BLOCKS).stream()
                        .mapToDouble(StepPoint::stepMillis).average().orElse(Double.NaN);
            }
            return deviation(means) / Math.sqrt(BLOCKS);
        }

        PastRun asSlower() {
            return new PastRun(name, at, steps, stepMillis, errorMillis, parts, true);
        }

        private double millis(String part) {
            return parts.stream().filter(one -> one.name.equals(part)).mapToDouble(PastPart::millis).sum();
        }
    }

    /**
     * A part of a step.
     *
     * @param name {@code wait: decode}, {@code compute}, {@code residual}
     * @param millis its mean time
     */
    public record PastPart(String name, double millis) {
    }

    /**
     * A run beside its past.
     *
     * @param runs number of earlier runs that count
     * @param beforeMillis the median of their steps
     * @param nowMillis the later run's step
     * @param noiseMillis by how much it may differ from the median by chance
     * @param beyondNoise whether it differs by more than that, and by enough to count
     * @param part the part of the step that changed most in the direction of the step
     * @param partBeforeMillis the median of that part
     * @param partNowMillis that part of the later run
     */
    public record Against(int runs, double beforeMillis, double nowMillis, double noiseMillis, boolean beyondNoise,
            String part, double partBeforeMillis, double partNowMillis) {

        /** {@return the change of the step, 0.03 for 3 % more} */
        public double change() {
            return nowMillis / beforeMillis - 1;
        }

        /** {@return whether the later run is slower beyond noise} */
        public boolean isSlower() {
            return beyondNoise && nowMillis > beforeMillis;
        }

        /** {@return this as one sentence} */
        public String text() {
            return "A step takes " + TimeText.of(nowMillis) + ", " + NumberText.change(change()) + " of "
                    + TimeText.of(beforeMillis) + " in " + NumberText.count(runs, "earlier run") + " (noise ± "
                    + TimeText.of(noiseMillis) + "); mostly " + part.replace('_', ' ') + ": "
                    + TimeText.of(partBeforeMillis) + " → " + TimeText.of(partNowMillis) + ".";
        }
    }

    /**
     * {@return a run beside the earlier ones; empty if none of these counts, or one of the two took no steps}
     *
     * @param now the later run
     */
    public Optional<Against> judge(PastRun now) {
        return judge(now, LEAST_CHANGE);
    }

    /**
     * {@return the same with another smallest change that counts}
     *
     * @param now the later run
     * @param leastChange the smallest change, as a share of the step; of few runs, {@link #LEAST_CHANGE_OF_FEW} if that
     *     is more
     */
    public Optional<Against> judge(PastRun now, double leastChange) {
        List<PastRun> measure = runs.stream().filter(run -> !run.slower && run.stepMillis > 0).toList();
        if (measure.isEmpty() || !(now.stepMillis > 0)) {
            return Optional.empty();
        }
        double[] steps = measure.stream().mapToDouble(PastRun::stepMillis).toArray();
        int count = steps.length;
        double before = median(steps);
        double own = NORMAL * (now.errorMillis > 0 ? now.errorMillis : 0);
        double spread = count < 2 ? 0 : student(count - 1) * deviation(steps) * Math.sqrt(1 + 1.0 / count);
        double least = (count < FEW ? Math.max(leastChange, LEAST_CHANGE_OF_FEW) : leastChange) * before;
        double noise = Math.max(least, Math.hypot(own, count < FEW ? 0 : spread));
        PastPart part = mover(measure, now, now.stepMillis < before ? -1 : 1);
        return Optional.of(new Against(count, before, now.stepMillis, noise,
                Math.abs(now.stepMillis - before) > noise, part.name, part.millis, now.millis(part.name)));
    }

    /** The part that changed most, with its median of before. */
    private static PastPart mover(List<PastRun> before, PastRun now, int sign) {
        Set<String> names = new LinkedHashSet<>();
        now.parts.forEach(part -> names.add(part.name));
        before.forEach(run -> run.parts.forEach(part -> names.add(part.name)));
        return names.stream().map(name -> new PastPart(name, median(before.stream().mapToDouble(run -> run.millis(name))
                        .toArray())))
                .max(Comparator.comparingDouble(part -> sign * (now.millis(part.name) - part.millis)))
                .orElse(new PastPart("step", median(before.stream().mapToDouble(PastRun::stepMillis).toArray())));
    }

    /** The verdict on a run that is slower than its past. */
    static Optional<Finding> finding(Optional<Against> against) {
        return against.filter(Against::isSlower).map(slower -> new Finding(Verdict.SLOWER_THAN_BEFORE,
                StepRules.severity(slower.change()) == Severity.INFO ? Severity.WARN
                        : StepRules.severity(slower.change()), slower.change(), slower.text(),
                "See what changed since: data, code, driver, or who else uses the machine. To take this speed as the"
                        + " new normal, remove the file of the past.", List.of(),
                Json.members("runs", slower.runs(), "before_ms", slower.beforeMillis(), "now_ms", slower.nowMillis(),
                        "noise_ms", slower.noiseMillis(), "change", slower.change(), "part", slower.part(),
                        "part_before_ms", slower.partBeforeMillis(), "part_now_ms", slower.partNowMillis())));
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    private static double deviation(double[] values) {
        double mean = Arrays.stream(values).average().orElse(Double.NaN);
        return Math.sqrt(Arrays.stream(values).map(value -> (value - mean) * (value - mean)).sum()
                / (values.length - 1));
    }

    private static double student(int freedom) {
        return freedom <= STUDENT.length ? STUDENT[freedom - 1] : NORMAL;
    }
}
