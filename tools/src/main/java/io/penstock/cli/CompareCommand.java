// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.diagnose.Summary;
import io.penstock.diagnose.report.Change;
import io.penstock.diagnose.report.Comparison;
import io.penstock.diagnose.report.Comparison.Difference;
import io.penstock.diagnose.report.Outcome;
import io.penstock.diagnose.report.RunHistory;
import io.penstock.json.Json;
import io.penstock.json.RecordJson;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "compare",
        description = "Compares runs: is the last one slower beyond the noise, and which part of a step changed?",
        footer = {"", "Example: penstock compare baseline run --fail-on regression,inconclusive",
            "", "Of more than two runs, the last is compared with the others: the noise is how much these differ.",
            "", "The outcome is inconclusive if the runs differ in data, batches or kind of machine, or if the later"
                + " one had a colder page cache.",
            "", "The exit status is 0 for every outcome that --fail-on does not name; for one that it names it is"
                + " 4 (regression), 5 (mixed) or 6 (inconclusive)."})
final class CompareCommand implements Callable<Integer> {

    @Mixin
    private Report report;

    @Parameters(arity = "2..*", paramLabel = "RUN",
            description = "Earlier runs and the later one, in this order: folders or their final_summary.json.")
    private List<Path> runs;

    @Option(names = "--threshold", defaultValue = "3", paramLabel = "PERCENT",
            description = "Smallest change of the step time that counts; default: ${DEFAULT-VALUE}.")
    private double thresholdPercent;

    @Option(names = "--allow-mismatch", description = "Also judge runs that are not comparable.")
    private boolean allowMismatch;

    @Option(names = "--fail-on", split = ",", paramLabel = "OUTCOME",
            description = "Outcomes that fail the command: regression, mixed, inconclusive.")
    private Set<Outcome> failOn = EnumSet.noneOf(Outcome.class);

    @Override
    public Integer call() throws IOException {
        List<Summary> summaries = new ArrayList<>();
        for (Path run : runs) {
            summaries.add(Summary.read(run));
        }
        if (summaries.size() > 2) {
            return compareAll(summaries);
        }
        Summary earlier = summaries.getFirst();
        Summary later = summaries.getLast();
        Comparison comparison = UsageException.valid("--threshold: ", () -> allowMismatch
                ? Comparison.ofMismatched(earlier, later, thresholdPercent / 100)
                : Comparison.of(earlier, later, thresholdPercent / 100));
        report.print(report.isJson() ? fields(comparison) : text(comparison));
        return failOn.contains(comparison.outcome()) ? exitCode(comparison.outcome()) : ExitCode.SUCCESS;
    }

    private int compareAll(List<Summary> summaries) {
        RunHistory history = UsageException.valid("--threshold: ",
                () -> allowMismatch ? RunHistory.ofMismatched(summaries, thresholdPercent / 100)
                        : RunHistory.of(summaries, thresholdPercent / 100));
        report.print(report.isJson() ? fields(history) : text(history));
        return failOn.contains(history.outcome()) ? exitCode(history.outcome()) : ExitCode.SUCCESS;
    }

    private String text(RunHistory history) {
        StringBuilder text = new StringBuilder();
        text.append(history.outcome()).append(": ").append(history.reason()).append(".\n\n");
        text.append(String.format(Locale.ROOT, "%-28s %12s %10s %10s %10s  %s%n", "run", "samples/s", "step, ms",
                "p99, ms", "wait, ms", "verdict"));
        for (int i = 0; i < runs.size(); i++) {
            RunHistory.Row row = history.rows().get(i);
            text.append(String.format(Locale.ROOT, "%-28s %12s %10s %10s %10s  %s%n", runs.get(i),
                    shown(row.samplesPerSecond()), shown(row.stepMillis()), shown(row.p99Millis()),
                    shown(row.waitMillis()), row.verdict().label()));
        }
        return text.toString();
    }

    private static Map<String, @Nullable Object> fields(RunHistory history) {
        return Json.members("outcome", history.outcome().label(), "reason", history.reason(),
                "against", RecordJson.write(history.against()), "runs", RecordJson.write(history.rows()));
    }

    private static int exitCode(Outcome outcome) {
        return switch (outcome) {
            case REGRESSION -> ExitCode.REGRESSION;
            case MIXED -> ExitCode.MIXED;
            default -> ExitCode.INCONCLUSIVE;
        };
    }

    private String text(Comparison comparison) {
        StringBuilder text = new StringBuilder();
        text.append(comparison.outcome()).append(": ").append(comparison.reason()).append(".\n");
        for (Difference difference : comparison.settings()) {
            text.append("changed  ").append(difference).append('\n');
        }
        comparison.largestMover().ifPresent(mover -> text.append(String.format(Locale.ROOT,
                "mostly   %s: %+.3f ms of the step%n", mover.name(), mover.difference())));
        text.append("verdict  ").append(comparison.before().label()).append(" → ").append(comparison.after().label())
                .append('\n');
        table(text, "", comparison.measures());
        table(text, "part of a step, ms", comparison.parts());
        table(text, "time per batch, ms", comparison.stages());
        return text.toString();
    }

    private static void table(StringBuilder text, String title, List<Change> changes) {
        if (changes.isEmpty()) {
            return;
        }
        text.append(String.format(Locale.ROOT, "%n%-28s %14s %14s %10s%n", title, "before", "after", "change"));
        for (Change change : changes) {
            text.append(String.format(Locale.ROOT, "%-28s %14s %14s %10s%n", change.name(), shown(change.before()),
                    shown(change.after()), Double.isFinite(change.ratio())
                            ? NumberText.change(change.ratio()) : "-"));
        }
    }

    private static String shown(double value) {
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, value >= 1000 ? "%,.0f" : "%.3f", value);
    }

    private static Map<String, @Nullable Object> fields(Comparison comparison) {
        return Json.members("outcome", comparison.outcome().label(), "reason", comparison.reason(),
                "step_change", RecordJson.write(comparison.step().ratio()),
                "step_change_low", RecordJson.write(comparison.step().low()),
                "step_change_high", RecordJson.write(comparison.step().high()),
                "mismatches", RecordJson.write(comparison.mismatches()),
                "settings", RecordJson.write(comparison.settings()),
                "verdict_before", comparison.before().label(), "verdict_after", comparison.after().label(),
                "measures", RecordJson.write(comparison.measures()),
                "step_parts_ms", RecordJson.write(comparison.parts()),
                "stages_ms", RecordJson.write(comparison.stages()));
    }
}
