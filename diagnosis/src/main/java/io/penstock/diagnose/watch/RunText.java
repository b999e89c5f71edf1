// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.watch;

import io.penstock.text.NumberText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** A view of a run as lines of text, for a terminal. */
public final class RunText {

    private static final int BAR_CHARS = 22;
    private static final int MOST_PROBLEMS = 3;
    private static final Map<String, Character> SIGNS = new LinkedHashMap<>();

    static {
        SIGNS.put("start", 's');
        SIGNS.put("slot", 'S');
        SIGNS.put("source_empty", 'e');
        SIGNS.put("source_slow", 'E');
        SIGNS.put("plan", 'p');
        SIGNS.put("download", 'n');
        SIGNS.put("read_blocked", 'r');
        SIGNS.put("read_cpu", 'R');
        SIGNS.put("decode", 'd');
        SIGNS.put("transform", 't');
        SIGNS.put("collate", 'c');
        SIGNS.put("cpu", 'x');
        SIGNS.put("order", 'o');
        SIGNS.put("copy", 'h');
        SIGNS.put("gc", 'g');
        SIGNS.put("handover", 'w');
        SIGNS.put("other", '?');
        SIGNS.put(RankStatus.COMPUTE, '=');
        SIGNS.put(RankStatus.RESIDUAL, '.');
    }

    private RunText() {
    }

    /**
     * {@return lines of at most so many characters, and at most so many lines}
     *
     * @param view the run
     * @param columns characters of a line
     * @param rows lines
     */
    public static List<String> of(RunView view, int columns, int rows) {
        List<String> lines = new ArrayList<>();
        String run = view.ranks().isEmpty() ? "no rank yet" : view.ranks().getFirst().status().run();
        lines.add(run + "  " + NumberText.count(view.ranks().size(), "rank")
                + known("  %s steps/s", view.stepsPerSecond()) + known("  %s samples/s", view.samplesPerSecond())
                + known("  waited %s GPU h", view.waitedGpuHours()) + known(" (%s)", view.waitedMoney()));
        if (view.stragglers().isEmpty()) {
            lines.add("no rank holds the others up");
        }
        view.stragglers().stream().limit(MOST_PROBLEMS).forEach(slow -> lines.add("SLOW  " + slow));
        if (view.stragglers().size() > MOST_PROBLEMS) {
            lines.add("SLOW  and " + (view.stragglers().size() - MOST_PROBLEMS) + " more ranks");
        }
        lines.add(legend(view));
        view.problems().stream().limit(MOST_PROBLEMS).forEach(problem -> lines.add("?     " + problem));
        if (view.problems().size() > MOST_PROBLEMS) {
            lines.add("?     and " + (view.problems().size() - MOST_PROBLEMS) + " more without an answer");
        }
        lines.add(String.format(Locale.ROOT, "%5s %7s %8s  %-" + BAR_CHARS + "s %4s %7s %7s", "rank", "steps/s",
                "step ms", "where it goes", "GPU", "GPU mem", "RAM"));
        int room = Math.max(1, rows - lines.size() - 1);
        view.ranks().stream().limit(room).forEach(row -> lines.add(line(row)));
        if (view.ranks().size() > room) {
            lines.add("      and " + (view.ranks().size() - room) + " more ranks");
        }
        return lines.stream().limit(rows).map(line -> line.length() <= columns ? line
                : line.substring(0, Math.max(0, columns - 1)) + "…").toList();
    }

    private static String known(String words, double value) {
        return Double.isNaN(value) ? "" : String.format(Locale.ROOT, words, NumberText.digits(value));
    }

    private static String legend(RunView view) {
        return SIGNS.entrySet().stream().filter(sign -> view.ranks().stream()
                        .anyMatch(row -> bar(row.status()).indexOf(sign.getValue()) >= 0))
                .map(sign -> sign.getValue() + " " + sign.getKey().replace('_', ' '))
                .collect(Collectors.joining("  "));
    }

    private static String line(RunView.RankRow row) {
        RankStatus status = row.status();
        String note = row.note().isEmpty() ? "" : " " + row.note();
        return String.format(Locale.ROOT, "%5d %7s %8s  %-" + BAR_CHARS + "s %4s %7s %7s%s", status.rank(),
                number(status.stepsPerSecond()), number(status.stepMillis()), row.silentSeconds() > 0 ? "-"
                        : bar(status),
                Double.isNaN(status.gpuUtilization()) ? "-"
                        : String.format(Locale.ROOT, "%.0f%%", 100 * status.gpuUtilization()),
                bytes(status.gpuMemoryBytes()), bytes(status.residentBytes()), note);
    }

    private static String number(double value) {
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 1000 ? "%.1f"
                : "%.0f", value);
    }

    private static String bytes(double value) {
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%.1fG", value / 1e9);
    }

    /** A step as a bar: a sign for each part, as many as its share; what is left by rounding is the largest part's. */
    private static String bar(RankStatus status) {
        var bar = new StringBuilder();
        double reached = 0;
        for (RankStatus.StepPart part : status.parts()) {
            reached += part.millis();
            int end = (int) Math.round(Math.clamp(reached / status.stepMillis(), 0, 1) * BAR_CHARS);
            bar.repeat(SIGNS.getOrDefault(part.name(), '?'), Math.max(0, end - bar.length()));
        }
        return bar.toString();
    }
}
