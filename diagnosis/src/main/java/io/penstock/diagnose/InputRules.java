// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Steps.Step;
import io.penstock.io.ReadMode;
import io.penstock.json.Json;
import io.penstock.loader.LoaderInfo;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Taking;
import io.penstock.telemetry.BatchAccount.Usage;
import io.penstock.telemetry.LoaderReport.PartTime;
import io.penstock.text.NumberText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The verdicts on the input pipeline. A verdict on a cause of waiting depends on that cause's share of the step, so it
 * requires that the trainer waits: workers that wait for slots while the trainer does not wait are normal backpressure.
 */
record InputRules(Facts facts, LoaderInfo settings, List<Finding> findings) {

    private static final double BLOCKED_SHARE = 0.5;
    private static final double AMPLIFIED = 2;
    private static final long AMPLIFIED_MIN_BYTES = 1 << 20;
    private static final double PAUSE_SHARE = 0.05;
    private static final double COLD_STEPS = 10;
    private static final double COLD_MIN_NANOS = 20e6;
    private static final double TAIL_SHARE = 0.05;
    private static final int TAIL_MIN_STEPS = 50;
    /** Below this, the operating system's scheduler dominates a step's time. */
    private static final double TAIL_MIN_STEP_NANOS = 200e3;
    private static final double COPY_RATE_SHARE = 0.5;
    /** TraceML calls a GPU's utilization below 70 % moderate. */
    private static final double IDLE_SHARE = 0.3;
    /** Penstock's samplers compute a sample from its position, so nothing is gained by another of them. */
    static final String PLAN_ADVICE = "Use larger batches or more workers; if the sampler is your own code, make it"
            + " cheaper.";

    /** Advice that gains less is not given. */
    private static final double WORTH_GAIN = 0.05;
    private static final double READY_SHARE = 0.99;
    private static final double CAPACITY = 1.2;

    /** All findings, most severe first; none for fewer than two steps. */
    static List<Finding> judge(Facts facts) {
        if (facts.steps.size() < 2) {
            return List.of();
        }
        var rules = new InputRules(facts, facts.recording.settings(), new ArrayList<>());
        rules.findings.addAll(DownloadRules.judge(facts));
        rules.source();
        rules.storage();
        rules.amplified();
        rules.stages();
        new SampleRules(facts).judge().ifPresent(rules.findings::add);
        rules.slots();
        rules.order();
        rules.cores();
        rules.pauses();
        rules.coldStart();
        rules.tail();
        rules.slowCopies();
        rules.unpinned();
        rules.idle();
        rules.ahead();
        rules.findings.sort(StepRules.ORDER);
        return List.copyOf(rules.findings);
    }

    private void find(Verdict verdict, Severity severity, double score, String summary, String action,
            Map<String, @Nullable Object> evidence) {
        findings.add(new Finding(verdict, severity, score, summary, action, List.of(), evidence));
    }

    /** Adds a finding on a cause that takes at least 5 % of the step. */
    private void find(Verdict verdict, double share, String summary, String action,
            Map<String, @Nullable Object> evidence) {
        if (share >= StepRules.INFO_SHARE) {
            evidence.put("share_of_step", share);
            find(verdict, StepRules.severity(share), share,
                    summary + ": " + NumberText.percent(share) + " of the step.", action, evidence);
        }
    }

    // ---- reading

    private void source() {
        find(Verdict.SOURCE_EMPTY, facts.share(Cause.SOURCE_EMPTY), "The trainer waits for a source that has nothing",
                "Nothing to do for the loader: train on more sources, or less often.", Json.members());
        find(Verdict.SOURCE_SLOW, facts.share(Cause.SOURCE_SLOW),
                "The trainer waits for a source that has more than was read",
                "Divide the source into more partitions, read them on more ranks (lanes), or give the stream's thread"
                        + " less to do, such as shorter texts to tokenize.", Json.members());
    }

    private double readNanos() {
        return facts.causeNanos[Cause.READ_BLOCKED.ordinal()] + facts.causeNanos[Cause.READ_CPU.ordinal()]
                + facts.causeNanos[Cause.COLLATE.ordinal()];
    }

    private void storage() {
        double blocked = facts.causeNanos[Cause.READ_BLOCKED.ordinal()];
        if (blocked < BLOCKED_SHARE * readNanos()) {
            return;
        }
        boolean mapped = settings.readMode() == ReadMode.MMAP && facts.diskBytes() > 0;
        find(mapped ? Verdict.PAGE_FAULT : Verdict.STORAGE, facts.share(Cause.READ_BLOCKED),
                mapped ? "Page faults wait for storage" : "Workers wait for storage",
                mapped ? "Read with pread, or read ahead more, so that cold pages are loaded before workers need them."
                        : "Use more workers if storage has spare bandwidth, read ahead, or move the data to faster"
                                + " storage.",
                Json.members("blocked_share_of_reading", readNanos() == 0 ? 0 : blocked / readNanos(),
                        "storage_bytes_per_batch", perBatch(facts.diskBytes()),
                        "peak_storage_gb_per_s", Storage.peakBytesPerNano(facts.recording)));
    }

    private double perBatch(long sum) {
        long batches = facts.usages().count();
        return batches == 0 ? Double.NaN : (double) sum / batches;
    }

    private void amplified() {
        double amplification = facts.readAmplification();
        if (facts.diskBytes() < AMPLIFIED_MIN_BYTES || !(amplification >= AMPLIFIED)) {
            return;
        }
        double share = facts.share(Cause.READ_BLOCKED);
        find(Verdict.READ_AMPLIFIED, StepRules.severity(share), share,
                String.format(Locale.ROOT, "Storage read %.1f times the bytes that went into batches.", amplification),
                "Read scattered samples with pread, or use a block shuffle so that read-ahead helps.",
                Json.members("read_amplification", amplification, "share_of_step", share));
    }

    // ---- work

    /** What makes decoding JPEG faster without another change. */
    private static final String TURBO_ADVICE = "install libjpeg-turbo if the files are JPEG, which the JDK decodes now"
            + " (1.5 times as fast or more)";

    /** A verdict on a stage that works while the trainer waits. */
    private record StageRule(Verdict verdict, Cause cause, Stage stage, String summary, String action) {

        /** What makes the stage faster without another change. */
        List<String> first(PartShares parts) {
            return stage == Stage.DECODE && parts.isDecodedByJdk() ? List.of(TURBO_ADVICE) : List.of();
        }
    }

    private static final List<StageRule> STAGES = List.of(
            new StageRule(Verdict.DECODE, Cause.DECODE, Stage.DECODE, "The trainer waits for decoding",
                    "Use more workers if cores are free, decode to a smaller size, or store decoded samples."),
            new StageRule(Verdict.TRANSFORM, Cause.TRANSFORM, Stage.TRANSFORM, "The trainer waits for sample maps",
                    "Use more workers if cores are free, or transform on the device."),
            new StageRule(Verdict.COLLATE, Cause.COLLATE, Stage.COLLATE, "The trainer waits for collating",
                    "Use more workers; if collating is as fast as a memory copy, only fewer bytes per batch help."),
            new StageRule(Verdict.PLAN, Cause.PLAN, Stage.PLAN, "The trainer waits for batch planning",
                    PLAN_ADVICE));

    private void stages() {
        PartShares parts = new PartShares(facts.recording.parts());
        for (StageRule rule : STAGES) {
            double share = facts.share(rule.cause);
            Optional<PartTime> dearest = rule.stage == Stage.TRANSFORM ? parts.dearest()
                    : rule.stage == Stage.DECODE ? parts.dearestWithDecoding() : Optional.empty();
            if (share >= StepRules.INFO_SHARE && dearest.isPresent()) {
                steps(rule, parts, share, dearest.get());
            } else {
                List<String> first = rule.first(parts);
                find(rule.verdict, share, rule.summary, (first.isEmpty() ? "" : sentence(first) + " ") + rule.action,
                        evidence(rule.stage));
            }
        }
    }

    /** Names the dearest step, and what it would give not to have it in the workers; only steps run on the device. */
    private void steps(StageRule rule, PartShares parts, double share, PartTime dearest) {
        double ofWork = parts.share(dearest);
        boolean isStep = parts.dearest().filter(dearest::equals).isPresent();
        WhatIf whatIf = new WhatIf(facts.recording, facts.onThread());
        double device = isStep ? whatIf.gain(WhatIf.Reading.DEVICE) : Double.NaN;
        double offline = whatIf.gain(WhatIf.Reading.OFFLINE);
        List<String> advice = new ArrayList<>(rule.first(parts));
        if (isStep && !isAboutNothing(device)) {
            advice.add("run " + dearest.name() + " and what follows it on the device" + text(device));
        }
        if (!isAboutNothing(offline)) {
            advice.add("write augmented samples once with 'penstock convert --augment'" + text(offline));
        }
        advice.add("use more workers if cores are free");
        Map<String, @Nullable Object> evidence = evidence(rule.stage);
        evidence.putAll(Json.members("dearest_step", dearest.name(), "dearest_step_share", ofWork,
                "gain_on_device", device, "gain_offline", offline));
        find(rule.verdict, share, rule.summary + "; " + dearest.name() + " is " + NumberText.percent(ofWork)
                + " of the work on a sample", sentence(advice), evidence);
    }

    /** Whether an estimate says that advice is not worth following; no estimate does not say so. */
    private static boolean isAboutNothing(double gain) {
        return gain < WORTH_GAIN;
    }

    /** An estimated gain in brackets; empty without an estimate. */
    private static String text(double gain) {
        return Double.isNaN(gain) ? "" : gain < WhatIf.MAX_GAIN ? " (" + NumberText.percent(gain) + " more samples/s)"
                : String.format(Locale.ROOT, " (%.0f times as many samples/s or more, if storage keeps up)",
                        1 + WhatIf.MAX_GAIN);
    }

    /** Alternatives as one sentence. */
    private static String sentence(List<String> alternatives) {
        int last = alternatives.size() - 1;
        String all = last == 0 ? alternatives.getFirst()
                : String.join(", ", alternatives.subList(0, last)) + ", or " + alternatives.getLast();
        return Character.toUpperCase(all.charAt(0)) + all.substring(1) + ".";
    }

    private Map<String, @Nullable Object> evidence(Stage stage) {
        Distribution millis = Distribution.of(facts.accounts().stream()
                .mapToDouble(account -> StageTable.nanos(stage, account) / 1e6).filter(ms -> ms >= 0).toArray());
        long wall = facts.usage(account -> account.making().madeAt() - account.making().plannedAt());
        Map<String, @Nullable Object> evidence = Json.members(
                stage.label() + "_p50_ms", millis.p50(), stage.label() + "_p99_ms", millis.p99(),
                "workers", settings.workers(), "cpu_share_of_making", wall == 0 ? Double.NaN
                        : (double) facts.usages().mapToLong(Usage::cpuNanos).sum() / wall);
        if (stage == Stage.COLLATE) {
            long nanos = facts.accounts().stream().mapToLong(account -> account.making().collateNanos()).sum();
            long bytes = facts.accounts().stream().mapToLong(BatchAccount::bytes).sum();
            evidence.put("collate_gb_per_s", nanos == 0 ? Double.NaN : (double) bytes / nanos);
            evidence.put("memcpy_gb_per_s", facts.recording.machine().memcpyBytesPerSecond() / 1e9);
        }
        return evidence;
    }

    // ---- waiting for slots, order and cores

    private void slots() {
        find(Verdict.SLOT_STARVED, facts.starvedShare(),
                "Workers wait for a free slot while the trainer waits for a batch",
                "Prefetch more, use more device slots, or close batches sooner.",
                Json.members("host_slots", settings.memory().hostSlots(),
                        "device_slots", settings.memory().deviceSlots(),
                        "free_slots_p50", facts.counts(Taking::freeSlots).p50()));
    }

    private void order() {
        find(Verdict.ORDER_BLOCKED, facts.share(Cause.ORDER),
                "Later batches are ready, but the next one in order is not",
                "Prefetch more, so that a slow batch starts sooner, or spread slow samples over batches.",
                Json.members("head_was_in", Wait.largest(facts.orderedBehindNanos).label(),
                        "later_batches_ready_mean", facts.steady.stream()
                                .filter(step -> step.waiting().nanos(Cause.ORDER) > 0)
                                .mapToInt(step -> step.account().taking().readyBatches()).average().orElse(0)));
    }

    private void cores() {
        double share = MakingMix.shareWithoutCore(facts.recording);
        double ofStep = facts.share(Cause.CPU);
        if (share < Attribution.CORELESS_SHARE && ofStep < StepRules.INFO_SHARE) {
            return;
        }
        find(Verdict.CPU_OVERSUBSCRIBED, StepRules.severity(ofStep), ofStep,
                "Workers are ready to run but have no core for " + NumberText.percent(share) + " of their time.",
                coreAdvice(settings.workers()),
                Json.members("share_of_making", share, "share_of_step", ofStep, "involuntary_switches_per_batch",
                        perBatch(facts.usages().mapToLong(Usage::involuntarySwitches).sum()),
                        "workers", settings.workers(), "cores", facts.recording.machine().cores()));
    }

    /** What to do if threads lack cores. */
    static String coreAdvice(int workers) {
        return (workers > 1 ? "Use fewer workers, or move" : "Move") + " other work off these cores.";
    }

    private void pauses() {
        double share = facts.stepNanos == 0 ? 0 : (double) facts.pausedNanos() / facts.stepNanos;
        if (share >= PAUSE_SHARE) {
            find(Verdict.GC_STALL, share >= StepRules.CRIT_SHARE ? Severity.CRIT : Severity.WARN, share,
                    "Garbage collection pauses the JVM for " + NumberText.percent(share) + " of the steps.",
                    "Allocate less in the trainer, give the JVM a larger heap, or use -XX:+UseZGC.",
                    Json.members("share_of_step", share, "pauses", facts.recording.pauses().size()));
        }
    }

    // ---- waits that a mean hides

    private void coldStart() {
        double worst = facts.firsts.stream().mapToDouble(step -> step.waiting().nanos()).max().orElse(0);
        if (facts.firsts.size() == facts.steps.size() || worst < COLD_MIN_NANOS
                || worst <= COLD_STEPS * facts.medianStepNanos) {
            return;
        }
        double waited = facts.firsts.stream().mapToDouble(step -> step.waiting().nanos()).sum();
        double share = waited / (waited + facts.stepNanos);
        find(Verdict.COLD_START, share >= StepRules.CRIT_SHARE ? Severity.WARN : Severity.INFO, share,
                String.format(Locale.ROOT, "The first batch took %.0f ms, or %.0f median steps.", worst / 1e6,
                        worst / Math.max(1, facts.medianStepNanos)),
                "Open the loader before building the model, and keep it open across epochs.",
                Json.members("first_batches", facts.firsts.size(), "longest_ms", worst / 1e6,
                        "median_step_ms", facts.medianStepNanos / 1e6,
                        "largest_cause", Wait.largest(Wait.sum(facts.firsts.stream().map(Step::waiting))).label(),
                        "share_of_run", share));
    }

    private void tail() {
        Summary.Tail tail = Tails.of(facts);
        if (facts.steady.size() < TAIL_MIN_STEPS || facts.medianStepNanos < TAIL_MIN_STEP_NANOS
                || tail.timeShare() < TAIL_SHARE) {
            return;
        }
        List<Step> slow = Tails.slow(facts);
        long[] causes = Wait.sum(slow.stream().map(Step::waiting));
        double waited = Arrays.stream(causes).sum();
        double all = slow.stream().mapToDouble(Step::nanos).sum();
        find(Verdict.TAIL_STALL, tail.timeShare() >= StepRules.CRIT_SHARE ? Severity.WARN : Severity.INFO,
                tail.timeShare(), tail.steps() + " steps longer than twice the median take "
                        + NumberText.percent(tail.timeShare()) + " of the time.",
                "Check what these steps waited for, and whether they come at regular intervals.",
                Json.members("slow_steps", tail.steps(), "share_of_time", tail.timeShare(),
                        "waited_share_of_slow_steps", waited / all,
                        "largest_cause", waited < all / 2 ? "trainer" : Wait.largest(causes).label(),
                        "every_steps", tail.every()));
    }

    // ---- copies

    private void slowCopies() {
        double probed = facts.recording.machine().copyBytesPerSecond() / 1e9;
        List<BatchAccount> copied = facts.accounts().stream()
                .filter(account -> StageTable.nanos(Stage.COPY, account) > 0).toList();
        double rate = copied.stream().mapToDouble(BatchAccount::bytes).sum()
                / copied.stream().mapToDouble(account -> StageTable.nanos(Stage.COPY, account)).sum();
        if (rate < COPY_RATE_SHARE * probed) {
            find(Verdict.H2D_SLOW, facts.share(Cause.COPY),
                    String.format(Locale.ROOT, "Copies to the device run at %.2f of %.2f GB/s", rate, probed),
                    "Use larger batches and pinned memory, and keep other traffic off the bus.",
                    Json.members("copy_gb_per_s", rate, "probed_gb_per_s", probed));
        }
    }

    private void unpinned() {
        if (settings.copies() && !settings.pinned()) {
            double share = facts.share(Cause.COPY);
            find(Verdict.UNPINNED, StepRules.severity(share), share,
                    "Copies to the device read from memory that is not page-locked.",
                    "Raise the limit on locked memory (ulimit -l), or use fewer or smaller slots.",
                    Json.members("share_of_step", share));
        }
    }

    // ---- the device

    /** Informational: waiting for input and unaccounted time have verdicts of their own. */
    private void idle() {
        if (!facts.recording.isTimedByDevice() || facts.stepNanos == 0) {
            return;
        }
        double busy = (double) facts.sum(step -> step.onDevice().computeNanos()) / facts.stepNanos;
        if (1 - busy >= IDLE_SHARE) {
            double waits = (double) facts.sum(step -> step.waiting().nanos()) / facts.stepNanos;
            find(Verdict.DEVICE_IDLE, Severity.INFO, 1 - busy,
                    "The trainer's stream works for " + NumberText.percent(busy) + " of the step; for "
                            + NumberText.percent(waits) + " it waits for input.",
                    waits >= (1 - busy) / 2 ? "See the causes of waiting."
                            : "Enqueue work sooner: the device waits for the trainer's thread.",
                    Json.members("idle_share", 1 - busy, "input_share", waits));
        }
    }

    // ---- no problem

    private void ahead() {
        long ready = facts.steady.stream().filter(step -> !step.waiting().counts()).count();
        double readiness = (double) ready / facts.steady.size();
        double make = facts.steady.stream().mapToLong(step -> step.account().making().madeAt()
                - step.account().making().slotAt()).average().orElse(Double.NaN);
        double workers = Math.max(1, settings.workers()) / (double) settings.devices();
        double capacity = workers / make * facts.mean(Step::nanos);
        if (settings.workers() > 0 && readiness >= READY_SHARE && capacity >= CAPACITY) {
            find(Verdict.LOADER_AHEAD, Severity.INFO, 0,
                    String.format(Locale.ROOT, "A batch was ready for %.1f %% of the requests; the loader could deliver"
                            + " %.1f times as many.", 100 * readiness, capacity),
                    "Nothing to do for the input; use fewer workers if cores are scarce.",
                    Json.members("readiness", readiness, "capacity_over_demand", capacity));
        }
    }
}
