// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.json.Json;
import io.penstock.text.NumberText;
import io.penstock.text.TimeText;
import io.penstock.tune.Curve;
import io.penstock.tune.Measured;
import io.penstock.tune.PageCache;
import io.penstock.tune.SearchPoint;
import io.penstock.tune.SearchSpace;
import io.penstock.tune.Standing;
import io.penstock.tune.Tuning;
import io.penstock.tune.TuningChart;
import java.io.IOException;
import java.time.LocalDate;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The output of {@code tune}: what it will do, the curves, the choice and the reason.
 *
 * @param windowTokens input tokens of a sample, 0 if samples are not of tokens
 * @param cold whether the pages were dropped before each round
 * @param before the share of the store in the page cache before the search
 * @param memoryBytes the bound on the slots
 */
record TuneReport(String store, long windowTokens, boolean cold, double before, long budgetNanos, long memoryBytes,
        String device) {

    private static final double ALL = 0.99;
    private static final double DRIFT = 0.1;

    String intention(SearchSpace space, boolean copies, PageCache pages, long roundNanos) throws IOException {
        return "device   " + device + "\n"
                + "data     " + pages + ", " + NumberText.of(pages.byteSize(), "B") + ", "
                + NumberText.percent(before) + " in the page cache"
                + (cold ? "; dropped before each round\n" : "; left as it is\n")
                + "search   " + NumberText.of(budgetNanos / 1e9, "s") + " in rounds of "
                + NumberText.of(roundNanos / 1e9, "s") + ": workers " + list(space.workers()) + "; read "
                + list(space.readModes()) + "; prefetch " + list(space.prefetch())
                + (copies ? "; device slots " + list(space.deviceSlots()) : "") + "; slots of at most "
                + NumberText.of(memoryBytes, "B") + "\n\n";
    }

    private static String list(List<?> values) {
        return values.stream().map(Object::toString).collect(Collectors.joining(" "));
    }

    /** Whether the data came from memory or from the disk, in words. */
    String cache(double after) {
        if (cold) {
            return "cold: the store's pages were dropped before each round";
        }
        if (before >= ALL && after >= ALL) {
            return "warm: all of the store was in the page cache";
        }
        String shares = NumberText.percent(before) + " of the store in the page cache before, "
                + NumberText.percent(after)
                + " after";
        return Math.abs(after - before) > DRIFT
                ? "between warm and cold: " + shares + ", so later rounds read more from memory than earlier ones"
                        + " (use --cold, or read the store once first)"
                : "partly warm: " + shares;
    }

    private double unitsPerSample() {
        return windowTokens > 0 ? windowTokens : 1;
    }

    private String unit() {
        return windowTokens > 0 ? "tokens/s" : "samples/s";
    }

    private String rate(double samplesPerSecond) {
        return NumberText.of(samplesPerSecond * unitsPerSample(), unit());
    }

    String text(Tuning tuning, double after) {
        SearchPoint chosen = tuning.chosen();
        if (chosen == null) {
            return "Nothing was measured yet.\n";
        }
        StringBuilder text = new StringBuilder();
        for (Curve curve : tuning.curves()) {
            text.append(table(curve));
        }
        if (tuning.stepNanos() > 0) {
            text.append(waits(tuning));
        }
        text.append("Measured ").append(cache(after)).append("; ")
                .append(NumberText.count(tuning.rounds(), "round")).append(" in ")
                .append(String.format(Locale.ROOT, "%.1f s", tuning.nanos() / 1e9))
                .append(tuning.interrupted() ? ", interrupted" : "").append(".\n");
        if (tuning.overMemory() > 0) {
            text.append(NumberText.count(tuning.overMemory(), "setting")).append(" skipped: slots exceed ")
                    .append(NumberText.of(memoryBytes, "B")).append(".\n");
        }
        return text.append(conclusion(tuning, chosen)).append("\n").toString();
    }

    private String table(Curve curve) {
        StringBuilder text = new StringBuilder();
        line(text, curve.setting().equals("final") ? "workers/prefetch/read" : curve.setting().replace('_', ' '),
                unit(), "95 % interval", "of fastest", "rounds", "slots", "");
        for (Measured point : curve.points()) {
            line(text, curve.value(point.candidate()), rate(point.samplesPerSecond()),
                    NumberText.of(point.low() * unitsPerSample(), "") + " to "
                            + NumberText.of(point.high() * unitsPerSample(), ""),
                    String.format(Locale.ROOT, "%.2f", ofFastest(point)), Integer.toString(point.rounds()),
                    NumberText.of(point.memoryBytes(), "B"),
                    point.standing() + (point == curve.chosen() ? "  <- chosen" : ""));
        }
        return text.append(plateau(curve)).append('\n').toString();
    }

    /** At most 1: a setting within noise of the fastest may beat it in a few rounds without being faster. */
    private static double ofFastest(Measured point) {
        return Math.min(1, point.toFastest().ratio());
    }

    private static void line(StringBuilder text, String... cells) {
        text.append(String.format(Locale.ROOT, "%-22s %15s  %-20s %10s %6s %9s  %s", (Object[]) cells).stripTrailing())
                .append('\n');
    }

    /** From which value on a setting gains nothing. */
    private static String plateau(Curve curve) {
        if (curve.fastest().toFastest().low() == 0) {
            return "Too few rounds to be sure: use a longer --budget.\n";
        }
        if (curve.setting().equals("read") || curve.setting().equals("final")) {
            return "";
        }
        Measured last = curve.points().getLast();
        String value = curve.value(curve.chosen().candidate());
        if (curve.chosen() == last) {
            return "No plateau: the largest value tried, " + value + ", is the fastest.\n";
        }
        boolean flat = curve.points().stream().skip(curve.points().indexOf(curve.chosen()))
                .allMatch(Measured::isAsFast);
        return flat ? "Plateau from " + value + ": higher values are not measurably faster.\n"
                : "Peak at " + value + ": higher values are slower.\n";
    }

    private String waits(Tuning tuning) {
        StringBuilder text = new StringBuilder();
        text.append("with a step of ").append(TimeText.millis(tuning.stepNanos())).append('\n');
        for (Tuning.StepWait wait : tuning.besideStep()) {
            text.append(String.format(Locale.ROOT, "%-22s waits %s per step, %s of the step; slots %s%s\n",
                    point(wait.candidate()), TimeText.millis(wait.waitNanos()),
                    NumberText.percent(wait.waitNanos() / tuning.stepNanos()),
                    NumberText.of(wait.memoryBytes(), "B"),
                    wait.candidate().equals(tuning.chosen()) ? "  <- chosen" : ""));
        }
        return text.append('\n').toString();
    }

    private static String point(SearchPoint candidate) {
        return candidate.workers() + "/" + candidate.prefetch() + "/" + candidate.readMode();
    }

    /** The recommended settings, and why. */
    private String conclusion(Tuning tuning, SearchPoint chosen) {
        String settings = chosen.settings("").toString();
        if (tuning.stepNanos() > 0) {
            return tuning.hidden() ? "Best: " + settings + ": the cheapest settings that fully overlap loading with"
                    + " the step." : "Best: " + settings + ": the shortest wait, but no settings fully overlap loading"
                    + " with the step.";
        }
        Curve last = tuning.curves().getLast();
        Measured point = tuning.measured(chosen).orElseThrow();
        String text = "Best: " + settings + ": " + rate(point.samplesPerSecond());
        Measured fastest = last.fastest();
        if (point.standing() != Standing.FASTEST && point.isAsFast()) {
            text += ", equal within noise to " + point(fastest.candidate()) + " (" + percentSlower(point)
                    + "), with fewer threads or less memory";
        }
        Measured standard = last.points().stream().filter(one -> one.candidate().equals(tuning.standard()))
                .findFirst().orElse(null);
        if (standard != null && !chosen.equals(tuning.standard())) {
            text += ". The default, " + point(tuning.standard()) + ", reaches " + rate(standard.samplesPerSecond())
                    + " (" + standard.standing() + ")";
        } else if (chosen.equals(tuning.standard())) {
            text += ". These are the defaults";
        }
        return text + ".";
    }

    private static String percentSlower(Measured point) {
        return NumberText.change(ofFastest(point) - 1);
    }

    /** The origin of the settings, for their file. */
    String note(Tuning tuning, SearchPoint chosen, double after, LocalDate today) {
        return "penstock tune, " + today + ", " + store + ", "
                + tuning.measured(chosen).map(point -> rate(point.samplesPerSecond()) + ", ").orElse("") + cache(after)
                + (tuning.interrupted() ? ", interrupted" : "");
    }

    /** The curves as an SVG image. */
    String chart(Tuning tuning, double after) {
        return TuningChart.svg(tuning, unitsPerSample(), unit(), "Throughput of " + store + ", "
                + cache(after).split(":")[0]);
    }

    /** The conditions of the measurement, for JSON. */
    Map<String, @Nullable Object> fields(double after) {
        return Json.members("device", device, "budget_seconds", budgetNanos / 1e9, "memory_bound_bytes", memoryBytes,
                "window_tokens", windowTokens > 0 ? windowTokens : null, "cold", cold, "residency_before", before,
                "residency_after", after, "cache", cache(after));
    }
}
