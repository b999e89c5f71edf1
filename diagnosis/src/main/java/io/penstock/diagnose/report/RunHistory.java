// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import io.penstock.diagnose.PastRuns;
import io.penstock.diagnose.PastRuns.Against;
import io.penstock.diagnose.PastRuns.PastRun;
import io.penstock.diagnose.Summary;
import io.penstock.diagnose.Verdict;
import io.penstock.text.NumberText;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Compares a run with several earlier ones, whose differences among each other are the noise.
 *
 * <p><b>Outcome.</b> The step regressed or improved if its mean differs from the median of the earlier ones beyond
 * their {@linkplain PastRuns noise}. It is unchanged if it differs by less than the threshold, and inconclusive
 * otherwise, or if a run is not {@linkplain Comparison comparable} with the last one.
 *
 * @param outcome the outcome
 * @param reason why, in a sentence without a full stop
 * @param against the last run beside the others; null if one of them took no steps
 * @param rows a row per run, in the order given
 */
public record RunHistory(Outcome outcome, String reason, @Nullable Against against, List<Row> rows) {

    /**
     * One run.
     *
     * @param run its name
     * @param samplesPerSecond throughput
     * @param stepMillis mean step
     * @param p99Millis the step that 99 % do not exceed
     * @param waitMillis mean wait
     * @param verdict its verdict
     */
    public record Row(String run, double samplesPerSecond, double stepMillis, double p99Millis, double waitMillis,
            Verdict verdict) {
    }

    /**
     * Compares the last run with the others.
     *
     * @param runs in order of time, at least two
     * @param threshold the smallest change of the step that counts, for example {@link Comparison#THRESHOLD}
     * @return the comparison
     * @throws IllegalArgumentException if the threshold is not above 0 and below 1, or there are fewer runs
     */
    public static RunHistory of(List<Summary> runs, double threshold) {
        return of(runs, threshold, false);
    }

    /**
     * Compares the last run with the others like {@link #of}, even if they are not comparable.
     *
     * @param runs in order of time, at least two
     * @param threshold as for {@link #of}
     * @return the comparison
     * @throws IllegalArgumentException if the threshold is not above 0 and below 1, or there are fewer runs
     */
    public static RunHistory ofMismatched(List<Summary> runs, double threshold) {
        return of(runs, threshold, true);
    }

    private static RunHistory of(List<Summary> runs, double threshold, boolean allowMismatch) {
        if (runs.size() < 2) {
            throw new IllegalArgumentException("found " + runs.size() + " runs, expected at least 2");
        }
        Summary last = runs.getLast();
        List<Summary> earlier = runs.subList(0, runs.size() - 1);
        String mismatches = earlier.stream().flatMap(run -> Comparison.of(run, last, threshold).mismatches().stream())
                .map(Comparison.Difference::toString).distinct().collect(Collectors.joining(", "));
        Against against = new PastRuns(earlier.stream().map(PastRun::of).toList()).judge(PastRun.of(last), threshold)
                .orElse(null);
        List<Row> rows = runs.stream().map(RunHistory::row).toList();
        if (!mismatches.isEmpty() && !allowMismatch) {
            return new RunHistory(Outcome.INCONCLUSIVE, "the runs are not comparable: " + mismatches, against, rows);
        }
        if (against == null) {
            return new RunHistory(Outcome.INCONCLUSIVE, "a run took no steps", null, rows);
        }
        Outcome outcome = against.beyondNoise()
                ? against.isSlower() ? Outcome.REGRESSION : Outcome.IMPROVEMENT
                : Math.abs(against.change()) < threshold ? Outcome.UNCHANGED : Outcome.INCONCLUSIVE;
        return new RunHistory(outcome, switch (outcome) {
            case UNCHANGED -> "the step changed by " + NumberText.change(against.change()) + ", less than "
                    + NumberText.percent(threshold);
            default -> against.text().replaceAll("\\.$", "").replaceFirst("^A", "a");
        }, against, rows);
    }

    private static Row row(Summary run) {
        return new Row(run.run(), run.input().samplesPerSecond(), run.input().stepMillis().mean(),
                run.input().stepMillis().p99(), run.input().waitMillis().mean(),
                run.findings().getFirst().verdict());
    }
}
