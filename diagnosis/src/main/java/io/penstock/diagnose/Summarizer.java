// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Steps.Step;
import io.penstock.diagnose.Summary.BatchTimes;
import io.penstock.diagnose.Summary.CauseRow;
import io.penstock.diagnose.Summary.ColdStart;
import io.penstock.diagnose.Summary.DeviceSteps;
import io.penstock.diagnose.Summary.Fingerprint;
import io.penstock.diagnose.Summary.Gc;
import io.penstock.diagnose.Summary.Headroom;
import io.penstock.diagnose.Summary.InputPipeline;
import io.penstock.diagnose.Summary.InterludeRow;
import io.penstock.diagnose.Summary.Overhead;
import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.diagnose.Summary.Slots;
import io.penstock.diagnose.Summary.StepPoint;
import io.penstock.loader.LoaderInfo;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Marked;
import io.penstock.telemetry.BatchAccount.Taking;
import io.penstock.text.NumberText;
import io.penstock.text.TimeText;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

final class Summarizer {

    static final int SERIES_POINTS = 500;
    static final int TIMELINE_BATCHES = 48;
    private static final double NAMED = 0.8;
    private static final double MAINLY = 0.5;
    private static final double ALONE = 0.95;

    private final Recording recording;
    private final LoaderInfo settings;
    private final Facts facts;

    Summarizer(Facts facts) {
        this.recording = facts.recording;
        this.settings = recording.settings();
        this.facts = facts;
    }

    Summary summary(Fingerprint fingerprint, double overheadNanos, @Nullable Headroom headroom) {
        List<RankSteps> ranks = facts.steps.isEmpty() ? List.of() : List.of(rank());
        String clock = recording.isTimedByDevice() ? "gpu" : "cpu";
        List<Finding> findings = new ArrayList<>(StepRules.judge(ranks, facts.steps.isEmpty() ? 0 : 1, clock));
        findings.replaceAll(this::withCause);
        findings.addAll(StepRules.capped(InputRules.judge(facts), facts.steady.size()));
        var machine = new MachineRules(facts);
        findings.addAll(StepRules.capped(machine.judge(), facts.steady.size()));
        findings.subList(1, findings.size()).sort(Comparator.comparing(Finding::severity).reversed());
        return new Summary(settings.name(), Instant.now().truncatedTo(ChronoUnit.SECONDS), durationSeconds(),
                fingerprint, clock, ranks, List.copyOf(findings), input(headroom), overhead(overheadNanos),
                interludes(), machine.use(), new SampleRules(facts).use());
    }

    /** Of the run from its first step to its last event. */
    private List<InterludeRow> interludes() {
        Map<String, InterludeRow> rows = new LinkedHashMap<>();
        for (Recording.Interlude one : recording.interludes()) {
            rows.merge(one.name(), new InterludeRow(one.name(), 1, one.nanos() / 1e6, 0), (all, more) ->
                    new InterludeRow(all.name(), all.count() + 1, all.millis() + more.millis(), 0));
        }
        double run = facts.steps.stream().mapToDouble(Step::nanos).sum() / 1e6
                + rows.values().stream().mapToDouble(InterludeRow::millis).sum();
        return rows.values().stream().map(row -> new InterludeRow(row.name(), row.count(), row.millis(),
                row.millis() / run)).sorted(Comparator.comparingDouble(InterludeRow::millis).reversed()).toList();
    }

    private double durationSeconds() {
        return facts.steps.isEmpty() ? 0 : (end(facts.steps.getLast()) - begin()) / 1e9;
    }

    private long begin() {
        return facts.steps.getFirst().account().taking().requestedAt();
    }

    private static long end(Step step) {
        return step.account().taking().requestedAt() + step.nanos();
    }

    private Overhead overhead(double nanosPerStep) {
        double step = facts.mean(Step::nanos);
        return new Overhead(nanosPerStep, step > 0 ? nanosPerStep / step : Double.NaN);
    }

    private RankSteps rank() {
        Recording.@Nullable PhaseMarks marks = recording.isTimedByDevice() ? marksOnDevice() : recording.marks();
        boolean measured = settings.copies();
        return new RankSteps(settings.rank(), hostName(), facts.steady.size(),
                facts.steps.getFirst().account().sequence(), facts.steps.getLast().account().sequence(),
                millis(Step::nanos), millis(Step::inputNanos), millis(step -> step.account().taking().waitNanos()),
                measured ? millis(Step::h2dNanos) : Double.NaN, millis(Step::computeNanos),
                marked(marks, Recording.PhaseMarks::forwardNanos), marked(marks, Recording.PhaseMarks::backwardNanos),
                marked(marks, Recording.PhaseMarks::optimizerNanos), millis(Step::residualNanos),
                settings.memory().hostBytes() + settings.memory().deviceBytes());
    }

    private double millis(ToDoubleFunction<Step> nanos) {
        return facts.mean(nanos) / 1e6;
    }

    /** The phases that the device has timed; null if none of these was marked. */
    private Recording.@Nullable PhaseMarks marksOnDevice() {
        List<Marked> marked = facts.steady.stream().flatMap(step -> Stream.ofNullable(step.onDevice().marked()))
                .filter(of -> of.nanos() > of.computeNanos()).toList();
        return marked.isEmpty() ? null : new Recording.PhaseMarks(marked.size(), sum(marked, Marked::forwardNanos),
                sum(marked, Marked::backwardNanos), sum(marked, Marked::optimizerNanos));
    }

    private static long sum(List<Marked> marked, ToLongFunction<Marked> nanos) {
        return marked.stream().mapToLong(nanos).sum();
    }

    private static double marked(Recording.@Nullable PhaseMarks marks, ToLongFunction<Recording.PhaseMarks> nanos) {
        return marks == null || marks.steps() == 0 ? Double.NaN : nanos.applyAsLong(marks) / 1e6 / marks.steps();
    }

    static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException _) {
            return "localhost";
        }
    }

    /** Names the cause in the verdict: alone if it makes up most of the wait. */
    private Finding withCause(Finding finding) {
        long waited = facts.waitedNanos();
        if (finding.verdict() != Verdict.INPUT_BOUND || waited == 0) {
            return finding;
        }
        Cause cause = facts.mainCause();
        double share = (double) facts.mainCauseNanos() / waited;
        Map<String, @Nullable Object> evidence = new LinkedHashMap<>(finding.evidence());
        evidence.put("cause", share >= MAINLY ? cause.label() : "mixed");
        evidence.put("cause_share_of_wait", share);
        String named = share >= NAMED ? " The cause is " + cause.label() + "."
                : share >= MAINLY ? " The cause is mainly " + cause.label() + "."
                : " The causes are mixed; the largest is " + cause.label() + ".";
        return new Finding(finding.verdict(), finding.severity(), finding.score(),
                finding.summary() + named.replace('_', ' ') + alone(finding.score()), action(cause), finding.ranks(),
                evidence);
    }

    /**
     * What waiting for nearly all of the step means: nothing else was measured than the input. Of all steps but the
     * first, which waits for the start.
     */
    private String alone(double share) {
        List<Step> steps = facts.steps.subList(Math.min(1, facts.steps.size() - 1), facts.steps.size());
        return share < ALONE ? "" : " Everything else takes " + NumberText.percent(1 - share) + ", so this is the"
                + " throughput of the input alone: a trainer with steps of more than "
                + TimeText.of(steps.stream().mapToDouble(Step::nanos).average().orElse(0) / 1e6)
                + " would hardly wait.";
    }

    private String action(Cause cause) {
        return switch (cause) {
            case START -> "Open the loader sooner, and keep it open across epochs.";
            case SLOT -> "Prefetch more, or close batches sooner.";
            case SOURCE_EMPTY -> "Nothing to do for the loader: the source gives no more.";
            case SOURCE_SLOW -> "Divide the source into more partitions, read them on more ranks (lanes), or give the"
                    + " stream's thread less to do.";
            case PLAN -> InputRules.PLAN_ADVICE;
            case DOWNLOAD -> "See the verdict on downloads.";
            case READ_BLOCKED -> "Read ahead, use more workers, or use faster storage.";
            case READ_CPU, COLLATE -> "Use more workers, or fewer bytes per batch.";
            case DECODE -> "Use more workers if cores are free, or store decoded samples.";
            case TRANSFORM -> "Use more workers if cores are free, or transform on the device or offline.";
            case CPU -> InputRules.coreAdvice(settings.workers());
            case ORDER -> "Prefetch more, or spread slow samples over batches.";
            case COPY -> "Check pinned memory, the bytes per batch, and the number of device slots.";
            case GC -> "Allocate less in the trainer, or use a collector with short pauses.";
            case HANDOVER -> "Prefetch more, or use larger batches: waking a thread takes longer than building a"
                    + " batch.";
            case OTHER -> "See the causes of waiting.";
        };
    }

    // ---- the input pipeline

    private InputPipeline input(@Nullable Headroom headroom) {
        return new InputPipeline(settings.rank(), settings.role().name().toLowerCase(Locale.ROOT),
                facts.samplesPerSecond(), facts.bytesPerSecond(),
                spread(Step::nanos), spread(step -> step.waiting().nanos()), onDevice(), StageTable.of(recording),
                new PartShares(recording.parts()).rows(), causes(), slots(), facts.counts(Taking::readyBatches),
                coldStart(), Tails.of(facts),
                Gc.of(recording.pauses(), facts.pausedNanos(), facts.stepNanos), facts.readAmplification(), headroom,
                new WhatIf(recording, facts.onThread()).predictions(), series(facts.steps, this::point), timeline());
    }

    private Distribution spread(ToDoubleFunction<Step> nanos) {
        return Distribution.of(facts.values(step -> nanos.applyAsDouble(step) / 1e6));
    }

    private @Nullable DeviceSteps onDevice() {
        if (!recording.isTimedByDevice()) {
            return null;
        }
        double moving = facts.mean(step -> step.onDevice().copyNanos() + step.onDevice().stageNanos());
        return new DeviceSteps(spread(step -> step.onDevice().copyNanos()),
                spread(step -> step.onDevice().stageNanos()), spread(step -> step.onDevice().exposedNanos()),
                spread(step -> step.onDevice().computeNanos()),
                moving == 0 ? Double.NaN : Math.max(0, 1 - facts.mean(Step::h2dNanos) / moving));
    }

    private List<CauseRow> causes() {
        double waited = Math.max(1, facts.waitedNanos());
        List<CauseRow> rows = new ArrayList<>();
        for (Cause cause : Cause.values()) {
            long nanos = facts.causeNanos[cause.ordinal()];
            if (nanos > 0) {
                rows.add(new CauseRow(cause, nanos / 1e6, nanos / waited, facts.largestCause[cause.ordinal()]));
            }
        }
        rows.sort(Comparator.comparingDouble(CauseRow::millis).reversed());
        return rows;
    }

    /** Workers waiting for slots are starved while the trainer waits; otherwise that is backpressure. */
    private Slots slots() {
        double starved = facts.sum(Step::starvedNanos) / 1e6;
        double all = facts.steady.stream().mapToDouble(step ->
                step.account().making().slotAt() - step.account().making().claimedAt()).sum() / 1e6;
        return new Slots(settings.memory().hostSlots(),
                facts.counts(Taking::freeSlots), starved,
                Math.max(0, all - starved));
    }

    private ColdStart coldStart() {
        return ColdStart.of(facts.firsts.stream().mapToDouble(step -> step.waiting().nanos() / 1e6).toArray());
    }

    /** Divides a run's steps into points of as many steps each. */
    static <S> List<StepPoint> series(List<S> steps, Function<List<S>, StepPoint> point) {
        List<StepPoint> points = new ArrayList<>();
        int stepsAPoint = Math.ceilDiv(Math.max(1, steps.size()), SERIES_POINTS);
        for (int from = 0; from < steps.size(); from += stepsAPoint) {
            points.add(point.apply(steps.subList(from, Math.min(steps.size(), from + stepsAPoint))));
        }
        return points;
    }

    private StepPoint point(List<Step> steps) {
        BatchAccount first = steps.getFirst().account();
        double nanos = steps.stream().mapToDouble(Step::nanos).sum();
        long[] causes = Wait.sum(steps.stream().map(Step::waiting));
        Cause largest = Wait.largest(causes);
        var waits = steps.stream().mapToDouble(step -> step.waiting().nanos() / 1e6).summaryStatistics();
        return new StepPoint(first.sequence(), steps.size(), (first.taking().requestedAt() - begin()) / 1e9,
                first.epoch(), nanos / steps.size() / 1e6,
                waits.getAverage(), waits.getMax(),
                nanos == 0 ? Double.NaN
                        : steps.stream().mapToLong(step -> step.account().samples()).sum() / nanos * 1e9,
                steps.stream().mapToInt(step -> step.account().taking().readyBatches()).filter(ready -> ready >= 0)
                        .average().orElse(Double.NaN),
                causes[largest.ordinal()] == 0 ? null : largest);
    }

    /** The batches around the longest wait of the steady state, which explain it. */
    private List<BatchTimes> timeline() {
        if (facts.steady.isEmpty()) {
            return List.of();
        }
        Step longest = facts.steady.stream()
                .max(Comparator.comparingLong(step -> step.waiting().nanos())).orElseThrow();
        int from = Math.max(0, facts.steps.indexOf(longest) - TIMELINE_BATCHES / 2);
        List<Step> shown = facts.steps.subList(from, Math.min(facts.steps.size(), from + TIMELINE_BATCHES));
        long zero = shown.stream().mapToLong(step -> step.account().making().claimedAt()).min().orElseThrow();
        return shown.stream().map(step -> times(step.account(), zero)).toList();
    }

    private static BatchTimes times(BatchAccount account, long zero) {
        var made = account.making();
        var taking = account.taking();
        return new BatchTimes(account.sequence(), made.worker(), millis(made.claimedAt(), zero),
                millis(made.slotAt(), zero), millis(made.plannedAt(), zero), millis(made.madeAt(), zero),
                account.copying() == null ? Double.NaN : millis(account.copying().submittedAt(), zero),
                millis(taking.requestedAt(), zero), millis(taking.takenAt(), zero), millis(taking.closedAt(), zero));
    }

    private static double millis(long at, long zero) {
        return at == BatchAccount.NOT_MEASURED ? Double.NaN : (at - zero) / 1e6;
    }
}
