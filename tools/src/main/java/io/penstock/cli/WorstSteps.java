// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.cli.SharedTraits.Shared;
import io.penstock.cli.SharedTraits.Trait;
import io.penstock.json.Json;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The worst steps of a trainer's log of losses, and what their rows share. */
final class WorstSteps {

    private static final double SIGNIFICANT = 0.05;
    private static final long MOST_ROWS = 1 << 19;
    private static final int SHOWN = 20;

    @Option(names = "--losses", paramLabel = "FILE",
            description = "Instead of a step: list the worst steps of FILE, a CSV file with columns step and loss, and"
                    + " what their rows share that other steps' rows do not have.")
    private @Nullable Path file;

    @Option(names = "--worst", paramLabel = "N",
            description = "With --losses: compare the N worst steps with the others; default: those 5 standard"
                    + " deviations above the running median, from 3 to 50.")
    private @Nullable Integer worst;

    @Option(names = "--first-step", defaultValue = "0", paramLabel = "N",
            description = "With --losses: what FILE calls the run's first step; default: ${DEFAULT-VALUE}.")
    private long firstStep;

    @Option(names = "--accumulate", defaultValue = "1", paramLabel = "BATCHES",
            description = "With --losses: batches of each rank in a step of FILE; default: ${DEFAULT-VALUE}.")
    private int accumulate;

    boolean isGiven() {
        return file != null;
    }

    /**
     * Prints the worst steps.
     *
     * @param source the samples
     * @param stores their names
     * @param batches of rank 0, from the first step on
     * @param ranks whose rows a loss is of
     */
    void print(SampleSource source, List<String> stores, BatchSampler batches, List<Integer> ranks, Report report)
            throws IOException {
        UsageException.requireAtLeast(1, "--accumulate", accumulate);
        UsageException.requireAtLeast(0, "--first-step", firstStep);
        if (worst != null) {
            UsageException.requireAtLeast(1, "--worst", worst);
        }
        LossLog log = LossLog.read(Objects.requireNonNull(file));
        List<LossLog.Entry> worstOf = log.worst(worst == null ? 0 : worst);
        if (worstOf.isEmpty() || worstOf.size() == log.entries().size()) {
            throw new BadInputException(file + ": found " + NumberText.count(log.entries().size(), "step")
                    + " with a loss, expected more than " + worstOf.size());
        }
        if (log.entries().getFirst().step() < firstStep) {
            throw new UsageException("--first-step: found " + firstStep + ", expected at most "
                    + log.entries().getFirst().step() + ", the first step of " + file);
        }
        Set<LossLog.Entry> chosen = new HashSet<>(worstOf);
        List<LossLog.Entry> others = log.entries().stream().filter(entry -> !chosen.contains(entry)).toList();
        long rowsOfStep = (long) ranks.size() * accumulate * batches.batchSize();
        others = spread(others, Math.clamp(MOST_ROWS / rowsOfStep, 1, others.size()));
        SharedTraits traits = new SharedTraits();
        RowTraits of = new RowTraits(source, stores);
        List<BatchSampler> ofRanks = ranks.stream().map(batches::ofRank).toList();
        BatchPlan plan = new BatchPlan(batches.batchSize());
        for (LossLog.Entry entry : worstOf) {
            traits.add(rows(entry, ofRanks, of, plan));
        }
        for (LossLog.Entry entry : others) {
            traits.add(rows(entry, ofRanks, of, plan));
        }
        SharedTraits.Result result = traits.ofFirst(worstOf.size());
        if (report.isJson()) {
            report.print(json(log, worstOf, others.size(), result));
        } else {
            text(log, worstOf, others.size(), result).forEach(report::printLine);
        }
    }

    /** So many of a list, evenly spread. */
    private static <T> List<T> spread(List<T> all, int count) {
        return IntStream.range(0, count).mapToObj(i -> all.get((int) ((long) i * all.size() / count))).toList();
    }

    private List<Set<Trait>> rows(LossLog.Entry entry, List<BatchSampler> ranks, RowTraits of, BatchPlan plan) {
        List<Set<Trait>> rows = new ArrayList<>();
        for (BatchSampler batches : ranks) {
            for (int i = 0; i < accumulate; i++) {
                long number = (entry.step() - firstStep) * accumulate + i;
                UsageException.valid("step " + entry.step() + ": ", () -> {
                    batches.plan(number, plan);
                    return plan;
                });
                for (int row = 0; row < plan.valid(); row++) {
                    rows.add(of.of(plan.sample(row)));
                }
            }
        }
        return rows;
    }

    private static List<Shared> significant(SharedTraits.Result result) {
        return result.shared().stream().filter(shared -> shared.p() <= SIGNIFICANT).toList();
    }

    private Map<String, @Nullable Object> json(LossLog log, List<LossLog.Entry> worstOf, int others,
            SharedTraits.Result result) {
        return Json.members("losses", String.valueOf(file), "steps", log.entries().size(),
                "worst", worstOf.stream().map(entry -> Json.members("step", entry.step(), "loss", number(entry.loss()),
                        "median", entry.median(), "deviations", number(entry.deviations()))).toList(),
                "compared_steps", others, "compared_traits", result.traits(), "choices", result.choices(),
                "worst_rows", result.chosenRows(), "other_rows", result.otherRows(),
                "shared", significant(result).stream().map(shared -> Json.members("trait", shared.trait().kind(),
                        "value", shared.trait().value(), "worst_rows", shared.chosenRows(), "other_rows",
                        shared.otherRows(), "worst_steps", shared.chosenSteps(), "p", shared.p())).toList(),
                "least_p", result.shared().isEmpty() ? null : result.shared().getFirst().p());
    }

    /** A number that JSON can have; null if it is infinite or none. */
    private static @Nullable Double number(double value) {
        return Double.isFinite(value) ? value : null;
    }

    private List<String> text(LossLog log, List<LossLog.Entry> worstOf, int others, SharedTraits.Result result) {
        List<String> lines = new ArrayList<>();
        lines.add(file + ": " + NumberText.count(log.entries().size(), "step") + ", the " + worstOf.size()
                + " worst by how far the loss is above the running median:");
        for (LossLog.Entry entry : worstOf.subList(0, Math.min(SHOWN, worstOf.size()))) {
            lines.add(String.format(Locale.ROOT, "  step %d: loss %.4g, median %.4g, %.1f standard deviations above",
                    entry.step(), entry.loss(), entry.median(), entry.deviations()));
        }
        if (worstOf.size() > SHOWN) {
            lines.add("  and " + (worstOf.size() - SHOWN) + " more");
        }
        List<Shared> found = significant(result);
        lines.add("what their " + NumberText.count(result.chosenRows(), "row") + " share, against "
                + NumberText.count(result.otherRows(), "row") + " of " + NumberText.count(others, "other step") + " ("
                + NumberText.count(result.traits(), "trait") + " compared):");
        for (Shared shared : found.subList(0, Math.min(SHOWN, found.size()))) {
            lines.add("  " + shared.trait().kind() + " " + shared.trait().value() + ": "
                    + NumberText.percent(shared.chosenRows() / (double) result.chosenRows()) + " of these rows, "
                    + NumberText.percent(shared.otherRows() / (double) result.otherRows()) + " of the others; in "
                    + shared.chosenSteps() + " of " + worstOf.size() + " steps; p = " + p(shared.p()));
        }
        if (found.size() > SHOWN) {
            lines.add("  and " + (found.size() - SHOWN) + " more");
        }
        if (found.isEmpty()) {
            lines.add("  nothing that steps chosen at random would not share as well" + (result.shared().isEmpty() ? ""
                    : "; the closest is " + result.shared().getFirst().trait().kind() + " "
                    + result.shared().getFirst().trait().value() + ", p = " + p(result.shared().getFirst().p())));
        } else {
            lines.add("p: how often " + NumberText.count(result.choices(), "random choice") + " of as many steps share"
                    + " any trait as strongly");
        }
        return lines;
    }

    private static String p(double p) {
        return String.format(Locale.ROOT, "%.2g", p);
    }
}
