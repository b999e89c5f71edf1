// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.json.Json;
import io.penstock.text.NumberText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The verdicts on the step, over the means of all ranks: shares are computed per rank, and the ranks' median share is
 * judged. Names, thresholds and order are TraceML's (v0.3.6), with two additions. From 5 % on, input wait is reported
 * as information. And copying is judged wherever the trainer was seen to wait for it, by thread or stream, because the
 * wait is measured here and not the enqueuing call. The clock is {@code cpu}, {@code gpu} or, over ranks,
 * {@code mixed}.
 */
record StepRules(List<RankSteps> ranks, int worldSize, String clock, List<Finding> findings) {

    static final double INFO_SHARE = 0.05;
    static final double WARN_SHARE = 0.10;
    static final double CRIT_SHARE = 0.20;
    private static final double COMPUTE_SHARE = 0.90;
    private static final double COVERAGE = 0.80;
    private static final int MIN_STEPS = 2;
    private static final int MIN_STEPS_CRIT = 20;

    /** Judges the ranks that have summaries; finds at least one thing, the most severe first. */
    static List<Finding> judge(List<RankSteps> ranks, int worldSize, String clock) {
        return new StepRules(ranks, worldSize, clock, new ArrayList<>()).judge();
    }

    private List<Finding> judge() {
        long steps = ranks.stream().mapToLong(RankSteps::steps).min().orElse(0);
        if (steps == 0) {
            return List.of(Finding.info(Verdict.NO_DATA, "No step was recorded.",
                    "Take batches from the loader and close them."));
        }
        if (steps < MIN_STEPS) {
            return List.of(Finding.info(Verdict.WARMUP, steps + " steps are too few for a verdict.",
                    "Run more steps."));
        }
        bound(Verdict.INPUT_BOUND, "Waiting for input", RankSteps::inputWaitMillis, INFO_SHARE,
                "See the causes of waiting below: they show which stage to change.");
        bound(Verdict.H2D_BOUND, "Copying to the device", RankSteps::h2dMillis, WARN_SHARE,
                "Check pinned memory, the bytes per batch, and the number of device slots.");
        bound(Verdict.RESIDUAL_HEAVY, "Unaccounted time", RankSteps::residualMillis, WARN_SHARE,
                "Check what runs between batches: logging, checkpoints, validation, or phases without marks.");
        straggler();
        computeBound();
        if (ranks.size() < worldSize) {
            findings.add(Finding.info(Verdict.INCOMPLETE_DATA, "Found summaries of " + ranks.size() + " of " + worldSize
                    + " ranks.", "Merge the summaries of all ranks."));
        }
        if (findings.stream().noneMatch(finding -> finding.verdict() != Verdict.INCOMPLETE_DATA)) {
            findings.add(Finding.info(Verdict.BALANCED, "No part of the step stands out.",
                    "Nothing to do; measure again when the model, the data or the machine changes."));
        }
        if (steps < MIN_STEPS_CRIT) {
            findings.add(Finding.info(Verdict.WARMUP, steps + " steps are too few for a verdict that holds: their"
                    + " shares differ from run to run.", "Run " + MIN_STEPS_CRIT + " steps or more."));
        }
        List<Finding> all = new ArrayList<>(capped(findings, steps));
        all.sort(ORDER);
        return List.copyOf(all);
    }

    /** Of few steps nothing is critical. */
    static List<Finding> capped(List<Finding> findings, long steps) {
        return steps >= MIN_STEPS_CRIT ? findings : findings.stream().map(finding ->
                finding.severity() == Severity.CRIT ? finding.withSeverity(Severity.WARN) : finding).toList();
    }

    /** By severity, then by score; a straggler precedes its equals. */
    static final Comparator<Finding> ORDER = Comparator.comparing(Finding::severity).reversed()
            .thenComparing(Comparator.comparingDouble(Finding::score).reversed())
            .thenComparingInt(finding -> finding.verdict().isOfStraggler() ? 0 : 1);

    static Severity severity(double share) {
        return share >= CRIT_SHARE ? Severity.CRIT : share >= WARN_SHARE ? Severity.WARN : Severity.INFO;
    }

    private void bound(Verdict verdict, String what, ToDoubleFunction<RankSteps> part, double from, String action) {
        double share = medianShare(part);
        if (share >= from) {
            Map<String, @Nullable Object> evidence = Json.members("share", share,
                    "step_ms", mean(RankSteps::stepMillis), "part_ms", mean(part), "clock", clock);
            RankSteps worst = ranks.stream().max(Comparator.comparingDouble(part)).orElseThrow();
            findings.add(new Finding(verdict, severity(share), share,
                    what + " takes " + NumberText.percent(share) + " of the typical step.", action,
                    ranks.size() == 1 ? List.of() : List.of(worst.rank()), evidence));
        }
    }

    private void computeBound() {
        double share = medianShare(RankSteps::computeMillis);
        boolean others = medianShare(RankSteps::inputWaitMillis) >= WARN_SHARE
                || medianShare(RankSteps::h2dMillis) >= WARN_SHARE
                || medianShare(RankSteps::residualMillis) >= WARN_SHARE;
        if (share >= COMPUTE_SHARE && !others) {
            findings.add(new Finding(Verdict.COMPUTE_BOUND, Severity.INFO, share,
                    "Computing takes " + NumberText.percent(share) + " of the typical step: the input keeps up.",
                    "Make the model's step cheaper; the loader does not limit it.", List.of(),
                    Map.of("share", share, "clock", clock)));
        }
    }

    /** NaN, which fails every comparison, if a rank did not measure the part. */
    private double medianShare(ToDoubleFunction<RankSteps> part) {
        double[] shares = ranks.stream().filter(rank -> rank.stepMillis() > 0)
                .mapToDouble(rank -> part.applyAsDouble(rank) / rank.stepMillis()).sorted().toArray();
        return shares.length == 0 ? Double.NaN : (shares[(shares.length - 1) / 2] + shares[shares.length / 2]) / 2;
    }

    private double mean(ToDoubleFunction<RankSteps> part) {
        return ranks.stream().mapToDouble(part).average().orElse(Double.NaN);
    }

    /**
     * Where gradients are exchanged, fast ranks wait for the slowest one in their backward pass. So the culprit is the
     * rank that spends least time there, and its victim is the typical rank.
     */
    private void straggler() {
        boolean marked = ranks.stream().allMatch(rank -> rank.backwardMillis() >= 0);
        if (ranks.size() < 2 || !marked) {
            return;
        }
        List<RankSteps> sorted = ranks.stream()
                .sorted(Comparator.comparingDouble(RankSteps::backwardMillis)).toList();
        RankSteps culprit = sorted.getFirst();
        RankSteps victim = sorted.get(sorted.size() / 2);
        double gap = victim.backwardMillis() - culprit.backwardMillis();
        double score = gap / victim.stepMillis();
        if (!(score >= WARN_SHARE)) {
            return;
        }
        Map<Verdict, Double> coverage = new LinkedHashMap<>();
        coverage.put(Verdict.INPUT_STRAGGLER, excess(culprit, victim, RankSteps::inputWaitMillis) / gap);
        coverage.put(Verdict.H2D_STRAGGLER, excess(culprit, victim, RankSteps::h2dMillis) / gap);
        coverage.put(Verdict.COMPUTE_STRAGGLER, excess(culprit, victim, RankSteps::forwardMillis) / gap);
        Map.Entry<Verdict, Double> most = coverage.entrySet().stream()
                .max(Map.Entry.comparingByValue()).orElseThrow();
        Verdict verdict = most.getValue() >= COVERAGE ? most.getKey() : Verdict.STRAGGLER;
        Map<String, @Nullable Object> evidence = Json.members("culprit_rank", culprit.rank(),
                "victim_rank", victim.rank(), "visible_cost_ms", gap, "step_ms", victim.stepMillis(),
                "covered", Math.min(1, most.getValue()));
        findings.add(new Finding(verdict, severity(score), score,
                "Rank " + culprit.rank() + " delays the others by " + NumberText.percent(score) + " of their step"
                        + (verdict == Verdict.STRAGGLER ? "; no single phase explains it." : "."),
                switch (verdict) {
                    case INPUT_STRAGGLER -> "Check the input of rank " + culprit.rank() + ".";
                    case H2D_STRAGGLER -> "Check the copies of rank " + culprit.rank() + ".";
                    case COMPUTE_STRAGGLER -> "Check the forward pass of rank " + culprit.rank() + ".";
                    default -> "Check the gradient exchange, and what else rank " + culprit.rank() + " does.";
                }, List.of(culprit.rank()), evidence));
    }

    private static double excess(RankSteps culprit, RankSteps victim, ToDoubleFunction<RankSteps> part) {
        double excess = part.applyAsDouble(culprit) - part.applyAsDouble(victim);
        return excess > 0 ? excess : 0;
    }
}
