// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.diagnose.Summary.Headroom;
import io.penstock.json.Json;
import io.penstock.loader.LoaderMemory;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.LoaderReport.PartTime;
import io.penstock.text.NumberText;
import io.penstock.text.TimeText;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The report of a {@link StreamRun}: rates, times, and where the time went.
 *
 * @param windowTokens input tokens of a sample, 0 if samples are not of tokens
 * @param workers the worker threads, 0 if the trainer's thread built the batches
 * @param headroom real over synthetic; null if that was not measured
 */
record StreamReport(StreamRun.Measured run, long windowTokens, int workers, LoaderMemory memory, long stepNanos,
        @Nullable Headroom headroom) {

    /** A trainer that waits at least this share of its time is input-bound. */
    private static final double INPUT_BOUND_SHARE = 0.05;

    private boolean copies() {
        return memory.deviceSlots() > 0;
    }

    private double perSecond(double amount) {
        return run.nanos() == 0 ? 0 : amount / (run.nanos() / 1e9);
    }

    private long tokens() {
        return run.samples() * windowTokens;
    }

    private double waitShare() {
        return share(run.waitTimes().totalNanos(), run.nanos());
    }

    private static double share(long nanos, long ofNanos) {
        return ofNanos == 0 ? 0 : Math.clamp((double) nanos / ofNanos, 0, 1);
    }

    /**
     * Of the workers' time: what they report, where that is more than the measured time, since a wait that began before
     * the measurement is reported within it.
     */
    private double workerShare(long nanos) {
        LoaderReport loader = run.loader();
        return share(nanos, Math.max(run.nanos() * Math.max(1, workers),
                loader.planNanos() + loader.collateNanos() + loader.slotWaitNanos() + sourceNanos()));
    }

    /** The bottleneck: {@code input}, {@code trainer}, or null if nothing was measured. */
    @Nullable String bottleneck() {
        return run.steps() == 0 ? null : stepNanos == 0 || waitShare() >= INPUT_BOUND_SHARE ? "input" : "trainer";
    }

    /** The bottleneck as a sentence with its figures. */
    String interpretation() {
        if (run.steps() == 0) {
            return run.interrupted() ? "Nothing was measured."
                    : run.firstBatchNanos() < 0 ? "There was no batch, so nothing was measured."
                    : "All batches were taken before measuring (--warmup), so nothing was measured.";
        }
        double stepMean = (double) run.nanos() / run.steps();
        if (stepNanos == 0) {
            return "The trainer took batches as fast as they came (no --step-ms), one every "
                    + TimeText.millis(stepMean) + ": this is the input alone, so it always waits. A trainer with longer"
                    + " steps does not wait for input.";
        }
        String waited = "waited for input " + NumberText.percent(waitShare()) + " of its time, "
                + TimeText.millis(run.waitTimes().meanNanos()) + " of each " + TimeText.millis(stepMean) + " step";
        String slots = "waited for a free slot " + NumberText.percent(workerShare(run.loader().slotWaitNanos()))
                + " of theirs";
        if ("trainer".equals(bottleneck())) {
            return "The trainer is the bottleneck: it " + waited
                    + (workers == 0 ? "." : "; the workers " + slots + ".");
        }
        double making = workerShare(run.loader().planNanos() + run.loader().collateNanos());
        return "Input-bound: the trainer " + waited + "; "
                + (workerShare(sourceNanos()) >= 0.5 ? "the source "
                        + (run.loader().sourceEmptyNanos() > run.loader().sourceSlowNanos() ? "had nothing."
                                : "is slow: more partitions, or less to do for the stream's thread, may help.")
                        : workers == 0 ? "it built the batches itself (--workers 0)."
                        : making >= 0.5 ? "the workers spent " + NumberText.percent(making)
                                + " of theirs building batches (" + advice() + ")."
                        : "the workers " + slots + (copies() ? " (the copy to the device is the limit)."
                                : " (the hand-over is the limit: try larger batches, more --prefetch or free"
                                        + " processors)."));
    }

    /** What to do if workers build batches too slowly. */
    private String advice() {
        return run.loader().parts().stream().max(Comparator.comparingLong(PartTime::nanos))
                .map(dearest -> "most for " + dearest.name() + ", " + TimeText.millis(perSample(dearest))
                        + " a sample; try " + (isByJdk(dearest) ? "libjpeg-turbo, " : "")
                        + "more --workers, the device, or 'penstock convert' beforehand")
                .orElse("try more --workers or a narrower --tokens-as");
    }

    /** Whether a part is decoding where libjpeg-turbo is missing. */
    private static boolean isByJdk(PartTime part) {
        return part.name().equals(PartTime.DECODE_BY_JDK);
    }

    /** How long workers waited for a stream's records. */
    private long sourceNanos() {
        return run.loader().sourceEmptyNanos() + run.loader().sourceSlowNanos();
    }

    /** Nanoseconds of a part for a sample that was given to the trainer. */
    private double perSample(PartTime part) {
        return run.samples() == 0 ? 0 : (double) part.nanos() / run.samples();
    }

    /** Returns the report for JSON. Rates are per second of measured time; shares are from 0 to 1. */
    Map<String, @Nullable Object> fields() {
        Map<String, @Nullable Object> fields = Json.members("transfer", copies() ? "copy" : "in-place",
                "workers", workers, "memory", Json.members("host_slots", memory.hostSlots(),
                        "device_slots", memory.deviceSlots(), "slab_bytes", memory.slabBytes(),
                        "host_bytes", memory.hostBytes(), "device_bytes", memory.deviceBytes()),
                "interrupted", run.interrupted(), "steps", run.steps(), "samples", run.samples());
        if (windowTokens > 0) {
            fields.putAll(Json.members("tokens", tokens(), "tokens_per_second", perSecond(tokens())));
        }
        fields.putAll(Json.members("bytes", run.bytes(), "seconds", run.nanos() / 1e9,
                "gigabytes_per_second", perSecond(run.bytes()) / 1e9, "samples_per_second", perSecond(run.samples()),
                "first_batch_ms", run.firstBatchNanos() < 0 ? null : run.firstBatchNanos() / 1e6,
                "step_ms", fields(run.stepTimes()), "wait_ms", fields(run.waitTimes()), "shares", shares()));
        if (!run.loader().parts().isEmpty()) {
            Map<String, Double> parts = new LinkedHashMap<>();
            run.loader().parts().forEach(part -> parts.merge(isByJdk(part) ? PartTime.DECODE : part.name(),
                    perSample(part) / 1e6, Double::sum));
            fields.put("sample_ms", parts);
        }
        if (headroom != null) {
            fields.putAll(Json.members("synthetic_samples_per_second", headroom.syntheticSamplesPerSecond(),
                    "real_over_synthetic", headroom.ratio()));
        }
        fields.putAll(Json.members("bottleneck", bottleneck(), "interpretation", interpretation(),
                "end_epoch", run.end().epoch(), "end_position", run.end().position()));
        return fields;
    }

    private Map<String, @Nullable Object> shares() {
        LoaderReport loader = run.loader();
        Map<String, @Nullable Object> shares = Json.members("trainer_waiting", waitShare(),
                "workers_planning", workerShare(loader.planNanos()),
                "workers_collating", workerShare(loader.collateNanos()),
                "workers_waiting_for_slot", workerShare(loader.slotWaitNanos()));
        if (sourceNanos() > 0) {
            shares.put("workers_waiting_for_empty_source", workerShare(loader.sourceEmptyNanos()));
            shares.put("workers_waiting_for_slow_source", workerShare(loader.sourceSlowNanos()));
        }
        if (copies()) {
            shares.put("copy_submitting", share(loader.submitNanos(), run.nanos()));
        }
        return shares;
    }

    private static Map<String, @Nullable Object> fields(DurationHistogram times) {
        return Json.members("mean", times.meanNanos() / 1e6, "p50", times.quantileNanos(0.5) / 1e6,
                "p99", times.quantileNanos(0.99) / 1e6, "max", times.maxNanos() / 1e6);
    }

    String text() {
        LoaderReport loader = run.loader();
        StringBuilder text = new StringBuilder();
        if (headroom != null) {
            line(text, "input", "%s of the ceiling that the same trainer reaches on one loaded batch (%s)",
                    NumberText.percent(headroom.ratio()),
                    NumberText.of(headroom.syntheticSamplesPerSecond(), "samples/s"));
        }
        line(text, "steps", "%s in %.3f s%s, first batch after %s", NumberText.count(run.steps(), "step"),
                run.nanos() / 1e9, run.interrupted() ? " (interrupted)" : "",
                run.firstBatchNanos() < 0 ? "-" : TimeText.millis(run.firstBatchNanos()));
        line(text, "rate", "%s%s, %s", windowTokens > 0 ? NumberText.of(perSecond(tokens()), "tokens/s") + ", " : "",
                NumberText.of(perSecond(run.samples()), "samples/s"),
                String.format(Locale.ROOT, "%.3f GB/s", perSecond(run.bytes()) / 1e9));
        line(text, "step", "p50 %s, p99 %s", TimeText.millis(run.stepTimes().quantileNanos(0.5)),
                TimeText.millis(run.stepTimes().quantileNanos(0.99)));
        line(text, "wait", "p50 %s, p99 %s, in all %s of the trainer's time",
                TimeText.millis(run.waitTimes().quantileNanos(0.5)),
                TimeText.millis(run.waitTimes().quantileNanos(0.99)), NumberText.percent(waitShare()));
        line(text, "workers", "%s: of their time plan %s, collate %s, idle until a slot is free %s",
                workers == 0 ? "none, the trainer's thread" : Integer.toString(workers),
                NumberText.percent(workerShare(loader.planNanos())),
                NumberText.percent(workerShare(loader.collateNanos())),
                NumberText.percent(workerShare(loader.slotWaitNanos())));
        if (sourceNanos() > 0) {
            line(text, "source", "workers waited %s for one that had nothing, %s for one that had more than was read",
                    NumberText.percent(workerShare(loader.sourceEmptyNanos())),
                    NumberText.percent(workerShare(loader.sourceSlowNanos())));
        }
        if (!loader.parts().isEmpty()) {
            line(text, "samples", "%s", loader.parts().stream().map(part -> part.name() + " "
                    + TimeText.millis(perSample(part))).collect(Collectors.joining(", ")));
        }
        if (copies()) {
            line(text, "copy", "submitting %s", NumberText.percent(share(loader.submitNanos(), run.nanos())));
        }
        return text.append(interpretation()).append('\n').toString();
    }

    private static void line(StringBuilder text, String label, String format, Object... values) {
        text.append(String.format(Locale.ROOT, "%-8s ", label)).append(String.format(Locale.ROOT, format, values))
                .append('\n');
    }
}
