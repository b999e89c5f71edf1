// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Summary.CauseRow;
import io.penstock.diagnose.Summary.InputPipeline;
import io.penstock.diagnose.Summary.InterludeRow;
import io.penstock.diagnose.Summary.MachineUse;
import io.penstock.diagnose.Summary.PartRow;
import io.penstock.diagnose.Summary.Prediction;
import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.diagnose.Summary.SampleStep;
import io.penstock.diagnose.Summary.SampleUse;
import io.penstock.diagnose.Summary.SlowRow;
import io.penstock.diagnose.Summary.StageRow;
import io.penstock.diagnose.Summary.StepPoint;
import io.penstock.text.NumberText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A summary as text: a box of 78 columns, the verdict first, then its evidence. */
final class SummaryText {

    private static final int WIDTH = 78;
    private static final int INNER = WIDTH - 4;

    private static final int[] ONE_RANK = {22, 16, 12};
    private static final int[] RANKS = {14, 12, 12, 10, 18};

    private final Summary summary;
    private final List<String> lines = new ArrayList<>();

    private SummaryText(Summary summary) {
        this.summary = summary;
    }

    static String of(Summary summary) {
        var text = new SummaryText(summary);
        text.build();
        return String.join("\n", text.lines);
    }

    private void build() {
        border();
        row(String.format(Locale.ROOT, "Penstock Run Summary | %s | duration %.1f s", summary.run(),
                summary.durationSeconds()));
        border();
        if (summary.input().headroom() != null) {
            row(String.format(Locale.ROOT, "Real over synthetic: %.1f %% (%.0f of %.0f samples/s)",
                    100 * summary.input().headroom().ratio(), summary.input().headroom().measuredSamplesPerSecond(),
                    summary.input().headroom().syntheticSamplesPerSecond()));
        }
        for (Finding finding : summary.findings()) {
            boolean first = finding == summary.findings().getFirst();
            wrap((first ? "Verdict: " : "") + finding.verdict().label() + " / " + severity(finding));
            wrap((first ? "Why: " : "  ") + finding.summary());
            wrap((first ? "Next: " : "  ") + finding.action());
            row("");
        }
        if (!summary.ranks().isEmpty()) {
            steps();
            waits();
            if (!summary.input().stages().isEmpty()) {
                stages();
            }
            if (!summary.input().parts().isEmpty()) {
                parts();
            }
            samples();
            predictions();
            interludes();
            machine();
        }
        wrap(String.format(Locale.ROOT, "Measuring costs %.2f us per step (%s).",
                summary.overhead().nanosPerStep() / 1e3, NumberText.percent(summary.overhead().share())));
        border();
    }

    private static String severity(Finding finding) {
        return switch (finding.severity()) {
            case INFO -> "INFO";
            case WARN -> "WARNING";
            case CRIT -> "CRITICAL";
        };
    }

    // ---- tables

    private void steps() {
        row("Step Time Evidence" + switch (summary.clock()) {
            case "gpu" -> ", by the device's clock";
            case Summary.CLOCKS_OF_BOTH -> ", some ranks by the device's clock";
            default -> "";
        });
        if (summary.ranks().size() == 1) {
            leftOut();
            table(ONE_RANK, "Phase", "Average", "Share");
        } else {
            table(RANKS, "Phase", "Median", "Worst", "Skew", "Scope");
        }
        phase("Step Time", RankSteps::stepMillis);
        phase("Input Wait", RankSteps::inputWaitMillis);
        phase("Compute", RankSteps::computeMillis);
        phase("Residual", RankSteps::residualMillis);
        phase("H2D", RankSteps::h2dMillis);
        row("");
    }

    /** Of which steps the averages are, if more is left out than the first step of all: the first one of each epoch. */
    private void leftOut() {
        long steps = summary.ranks().getFirst().steps();
        List<StepPoint> points = summary.input().series();
        long all = points.stream().mapToLong(StepPoint::steps).sum();
        if (all - steps > 1) {
            wrap(steps + " of " + all + " steps: without the first of each epoch. Average of all: "
                    + millis(points.stream().mapToDouble(point -> point.steps() * point.stepMillis()).sum() / all));
        }
    }

    private void phase(String name, ToDoubleFunction<RankSteps> part) {
        boolean one = summary.ranks().size() == 1;
        List<RankSteps> sorted = summary.ranks().stream().filter(rank -> !Double.isNaN(part.applyAsDouble(rank)))
                .sorted(Comparator.comparingDouble(part)).toList();
        if (sorted.isEmpty()) {
            cells(one ? ONE_RANK : RANKS, name, "n/a", "n/a", "", "");
            return;
        }
        double worst = part.applyAsDouble(sorted.getLast());
        double median = part.applyAsDouble(sorted.get((sorted.size() - 1) / 2));
        if (one) {
            cells(ONE_RANK, name, millis(worst), NumberText.percent(worst / sorted.getLast().stepMillis()));
        } else {
            cells(RANKS, name, millis(median), millis(worst),
                    median <= 0 ? "n/a" : NumberText.percent((worst - median) / median),
                    "rank " + sorted.getLast().rank());
        }
    }

    private void waits() {
        InputPipeline input = summary.input();
        int[] widths = {22, 16, 12, 12};
        row("Waits");
        table(widths, "Cause", "Time", "Share", "Largest in");
        for (CauseRow cause : input.causes()) {
            cells(widths, cause.cause().label().replace('_', ' '), millis(cause.millis()),
                    NumberText.percent(cause.share()), cause.waits() + " waits");
        }
        if (input.causes().isEmpty()) {
            row(input.stages().isEmpty() ? "unknown: another library's input" : "none of 50 us or more");
        }
        row("");
        table(widths, "", "p50", "p95", "p99");
        spread(widths, "Step", input.stepMillis());
        spread(widths, "Wait", input.waitMillis());
        row("");
    }

    private void spread(int[] widths, String name, Distribution values) {
        cells(widths, name, millis(values.p50()), millis(values.p95()), millis(values.p99()));
    }

    private void stages() {
        int[] widths = {12, 12, 12, 12, 12};
        row("Stages of rank " + summary.input().rank());
        table(widths, "Stage", "p50", "p99", "Blocked", "Busy");
        for (StageRow stage : summary.input().stages()) {
            cells(widths, stage.stage().label(), millis(stage.millis().p50()), millis(stage.millis().p99()),
                    stage.totalMillis() == 0 ? "n/a" : NumberText.percent(stage.blockedMillis() / stage.totalMillis()),
                    NumberText.percent(stage.utilization()));
        }
        row("");
    }

    private void parts() {
        int[] widths = {30, 16, 12};
        row("Decoding and steps");
        table(widths, "Part", "Time", "Share");
        for (PartRow part : summary.input().parts()) {
            cells(widths, part.part(), millis(part.totalMillis()), NumberText.percent(part.share()));
        }
        row("");
    }

    private void samples() {
        SampleUse use = summary.samples();
        if (use == null) {
            return;
        }
        int[] widths = {12, 12, 12, 12, 16};
        row("Single samples");
        table(widths, "Step", "Samples", "p50", "p99", "Slow ones");
        for (SampleStep step : use.steps()) {
            cells(widths, step.step(), Long.toString(step.samples()), millis(step.p50Millis()),
                    millis(step.p99Millis()), step.slowSamples() == 0 ? "none"
                            : NumberText.percent(step.slowShare()) + " of time");
        }
        row("");
        row("Slowest samples");
        for (SlowRow slow : use.slowest()) {
            row("  " + millis(slow.millis()) + "  " + slow.name()
                    + (slow.bytes() == 0 ? "" : ", " + bytes(slow.bytes())));
        }
        row("");
    }

    private void predictions() {
        List<Prediction> predictions = summary.input().whatIf();
        if (predictions.isEmpty()) {
            if (!summary.input().stages().isEmpty()) {
                row("What if: nothing is predicted from fewer than " + WhatIf.MIN_STEPS + " steps");
                row("");
            }
            return;
        }
        int[] widths = {22, 18, 12, 14};
        Prediction present = predictions.getFirst();
        row("What if" + (present.trusted() ? "" : " (not trusted: off by " + NumberText.percent(present.errorShare())
                + " for the present settings)"));
        table(widths, "Change", "Samples/s", "Gain", "Limit");
        for (Prediction prediction : predictions) {
            cells(widths, prediction.change(), String.format(Locale.ROOT, "%.1f", prediction.samplesPerSecond()),
                    NumberText.percent(prediction.gain()), prediction.limit());
        }
        row("");
    }

    private void interludes() {
        if (summary.interludes().isEmpty()) {
            return;
        }
        int[] widths = {22, 10, 16, 12};
        row("Left out: no training");
        table(widths, "Mark", "Times", "Time", "Of the run");
        for (InterludeRow row : summary.interludes()) {
            cells(widths, row.name(), Long.toString(row.count()), millis(row.millis()),
                    NumberText.percent(row.share()));
        }
        row("");
    }

    private void machine() {
        MachineUse use = summary.machine();
        if (use == null) {
            return;
        }
        row("Machine");
        row("GPU: " + use.gpu());
        figures(figure("busy %s", use.gpuUtilization(), NumberText::percent),
                figure("memory %s", use.gpuMemoryBytes(), SummaryText::bytes),
                figure("of this process %s", use.gpuProcessBytes(), SummaryText::bytes));
        figures(figure("power %s W", use.gpuWatts(), NumberText::digits),
                figure("temperature %s C", use.gpuCelsius(), NumberText::digits),
                figure("clock %s", use.gpuClockShare(), NumberText::percent));
        figures(figure("RAM %s", use.residentBytes(), SummaryText::bytes),
                figure("%s cores", use.cores(), NumberText::digits),
                figure("%s of loaders", use.loaderCores(), NumberText::digits),
                figure("limit %s", use.limitCores(), NumberText::digits));
        figures(figure("lack of cores %s", use.cpuPressure(), NumberText::percent),
                figure("of storage %s", use.ioPressure(), NumberText::percent),
                figure("disk %s/s", use.diskBytesPerSecond(), SummaryText::bytes),
                figure("network %s/s", use.networkBytesPerSecond(), SummaryText::bytes));
        row("");
    }

    /** A figure in words; empty if it is not known. */
    private static String figure(String words, double value, DoubleFunction<String> text) {
        return Double.isNaN(value) ? "" : String.format(Locale.ROOT, words, text.apply(value));
    }

    private void figures(String... texts) {
        String line = Stream.of(texts).filter(text -> !text.isEmpty()).collect(Collectors.joining(", "));
        if (!line.isEmpty()) {
            row("  " + line);
        }
    }

    private static String bytes(double value) {
        return NumberText.of(value, "B");
    }

    // ---- lines

    private static String millis(double value) {
        return Double.isNaN(value) ? "n/a" : String.format(Locale.ROOT, value < 10 ? "%.3f ms" : "%.1f ms", value);
    }

    private void border() {
        lines.add("+" + "-".repeat(WIDTH - 2) + "+");
    }

    private void row(String text) {
        String shown = text.length() <= INNER ? text : text.substring(0, INNER - 1) + ".";
        lines.add("| " + shown + " ".repeat(INNER - shown.length()) + " |");
    }

    private void table(int[] widths, String... heads) {
        cells(widths, heads);
        row("-".repeat(Math.min(INNER, Arrays.stream(widths).sum() + 2 * (widths.length - 1))));
    }

    private void cells(int[] widths, String... values) {
        var line = new StringBuilder();
        for (int i = 0; i < widths.length && i < values.length; i++) {
            line.append(values[i]).repeat(' ', Math.max(0, widths[i] - values[i].length())).append("  ");
        }
        row(line.toString().stripTrailing());
    }

    private void wrap(String text) {
        var line = new StringBuilder();
        for (String word : text.split(" ")) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > INNER) {
                row(line.toString());
                line.setLength(0);
                line.append("  ");
            } else if (!line.isEmpty() && !line.toString().isBlank()) {
                line.append(' ');
            }
            line.append(word);
        }
        row(line.toString());
    }
}
