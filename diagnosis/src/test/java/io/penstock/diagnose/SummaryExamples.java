// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Summary.BatchTimes;
import io.penstock.diagnose.Summary.CauseRow;
import io.penstock.diagnose.Summary.ColdStart;
import io.penstock.diagnose.Summary.Fingerprint;
import io.penstock.diagnose.Summary.Gc;
import io.penstock.diagnose.Summary.Headroom;
import io.penstock.diagnose.Summary.InputPipeline;
import io.penstock.diagnose.Summary.Overhead;
import io.penstock.diagnose.Summary.PartRow;
import io.penstock.diagnose.Summary.Prediction;
import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.diagnose.Summary.Slots;
import io.penstock.diagnose.Summary.StageRow;
import io.penstock.diagnose.Summary.StepPoint;
import io.penstock.diagnose.Summary.Tail;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Summaries of runs that did not happen, for tests of what is made of a summary. */
public final class SummaryExamples {

    public static final Fingerprint FINGERPRINT = new Fingerprint("0.1.0", "25.0.3", "Linux amd64", 2, null, null,
            "megatron:u16:0f3a", 32, 1, 2, 12, 0, "auto", "warm");

    private SummaryExamples() {
    }

    /**
     * A run whose steps take 2 ms, with noise that lasts for some points, as a shared machine's does.
     *
     * @param factor what steps are longer by
     * @param noise the deviation of the noise, as a share of the step
     */
    public static Summary run(long seed, int points, double factor, double noise, Fingerprint fingerprint) {
        var random = new SplittableRandom(seed);
        List<StepPoint> series = new ArrayList<>();
        double drift = 0;
        double at = 0;
        double[] steps = new double[points];
        double[] waits = new double[points];
        for (int i = 0; i < points; i++) {
            drift = 0.8 * drift + 0.6 * noise * random.nextGaussian();
            steps[i] = 2 * factor * Math.exp(drift);
            waits[i] = 0.3 * steps[i];
            series.add(new StepPoint(20L * i, 20, at, i / 40, steps[i], waits[i], 3 * waits[i], 32_000 / steps[i], 4,
                    i % 3 == 0 ? null : Cause.DECODE));
            at += 20 * steps[i] / 1000;
        }
        Distribution step = Distribution.of(steps);
        Distribution wait = Distribution.of(waits);
        long count = 20L * points;
        double mean = step.mean();
        var input = new InputPipeline(0, "train", 32_000 / mean, 6.5e7 / mean,
                new Distribution(count, mean, step.p50(), step.p95(), step.p99(), step.max()),
                new Distribution(count, wait.mean(), wait.p50(), wait.p95(), wait.p99(), wait.max()),
                null,
                List.of(new StageRow(Stage.DECODE, wait, wait.mean() * count, wait.mean() * count * 0.9,
                                wait.mean() * count * 0.1, 1L << 30, 2, 0.61),
                        new StageRow(Stage.COLLATE, Distribution.of(new double[] {0.1, 0.2}), 0.15 * count,
                                Double.NaN, Double.NaN, 1L << 30, 2, 0.1)),
                List.of(new PartRow("decode", 0.9 * wait.mean() * count, 0.9),
                        new PartRow("horizontalFlip", 0.1 * wait.mean() * count, 0.1)),
                List.of(new CauseRow(Cause.DECODE, 0.9 * wait.mean() * count, 0.9, count),
                        new CauseRow(Cause.READ_BLOCKED, 0.1 * wait.mean() * count, 0.1, 3)),
                new Slots(12, Distribution.of(new double[] {1, 2, 9}), 12, 3400), Distribution.of(new double[] {4}),
                new ColdStart(3, Distribution.of(new double[] {40, 12, 13}), 40), new Tail(7, 0.03, 0),
                new Gc(3, 12.5, 0.004), Double.NaN, new Headroom(48_000 / mean, 32_000 / mean, 2.0 / 3),
                List.of(new Prediction("none", 31_500 / mean, 0, 0.016, true, "workers"),
                        new Prediction("workers 4", 41_000 / mean, 0.30, 0.016, true, "trainer")),
                series, timeline());
        var rank = new RankSteps(0, "host", count, 0, count - 1, mean, wait.mean(), wait.mean(), 0, 0.65 * mean,
                Double.NaN, Double.NaN, Double.NaN, 0.05 * mean, 50_000_000);
        var finding = new Finding(Verdict.INPUT_BOUND, Severity.CRIT, 0.3, "Waiting for input takes 30.0 % of the "
                + "step.", "Decode on more workers, or store the data decoded.", List.of(),
                Map.of("input_share", 0.3));
        return new Summary("example", Instant.EPOCH, at, fingerprint, "cpu", List.of(rank), List.of(finding), input,
                new Overhead(900, 0.0004));
    }

    private static List<BatchTimes> timeline() {
        List<BatchTimes> batches = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            double at = i * 2.0;
            batches.add(new BatchTimes(100 + i, i % 2, at, at + 0.3, at + 0.35, at + 3.5, Double.NaN, at + 3,
                    at + 3.6, at + 5));
        }
        return batches;
    }
}
