// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Summary.SampleStep;
import io.penstock.diagnose.Summary.SampleUse;
import io.penstock.diagnose.Summary.SlowRow;
import io.penstock.json.Json;
import io.penstock.telemetry.SampleTimes;
import io.penstock.telemetry.SampleTimes.Bucket;
import io.penstock.telemetry.SampleTimes.SizeClass;
import io.penstock.text.NumberText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What single samples take, and the verdict on the slow ones: a few that take much of a step for which the trainer
 * waits, be it for the batch itself or for the batches behind it in order.
 */
record SampleRules(Facts facts) {

    /** A slow sample takes as many times the median. */
    private static final double SLOW = 8;
    private static final double MOST_OF_SAMPLES = 0.02;
    private static final double LEAST_OF_TIME = 0.20;
    private static final long LEAST_SAMPLES = 200;
    private static final int NAMED = 3;

    private static final List<Cause> READING = List.of(Cause.READ_BLOCKED, Cause.READ_CPU);

    /** One step of the work on a sample. */
    private record Work(String name, List<Bucket> times, List<Cause> causes) {

        private static double nanos(List<Bucket> of) {
            return of.stream().mapToDouble(Bucket::nanos).sum();
        }

        private static long samples(List<Bucket> of) {
            return of.stream().mapToLong(Bucket::samples).sum();
        }

        double quantile(double share) {
            long rank = (long) Math.ceil(share * samples(times));
            long seen = 0;
            for (Bucket bucket : times) {
                seen += bucket.samples();
                if (seen >= rank) {
                    return (bucket.leastNanos() + bucket.mostNanos()) / 2.0;
                }
            }
            return Double.NaN;
        }

        SampleStep row() {
            double median = quantile(0.5);
            List<Bucket> slow = times.stream().filter(bucket -> bucket.leastNanos() >= SLOW * median).toList();
            double all = nanos(times);
            return new SampleStep(name, samples(times), median / 1e6, quantile(0.99) / 1e6, all / 1e6, samples(slow),
                    all == 0 ? 0 : nanos(slow) / all);
        }
    }

    private SampleTimes times() {
        return facts.recording.sampleTimes();
    }

    private List<Work> work() {
        return List.of(new Work("read", times().read(), READING),
                new Work("decode", times().decode(), List.of(Cause.DECODE)),
                new Work("transform", times().transform(), List.of(Cause.TRANSFORM)));
    }

    /** The figures of a summary; null if no samples were timed. */
    @Nullable SampleUse use() {
        List<SampleStep> rows = work().stream().filter(work -> !work.times.isEmpty()).map(Work::row).toList();
        return rows.isEmpty() ? null : new SampleUse(rows, times().slowest().stream().map(slow -> new SlowRow(
                slow.name(), slow.sample(), slow.bytes(), slow.nanos() / 1e6, slow.readNanos() / 1e6,
                slow.decodeNanos() / 1e6, slow.transformNanos() / 1e6)).toList());
    }

    /** The verdict on the step in which slow samples cost the trainer most. */
    Optional<Finding> judge() {
        List<Finding> findings = new ArrayList<>();
        for (Work work : work()) {
            if (!work.times.isEmpty()) {
                judge(work, work.row()).ifPresent(findings::add);
            }
        }
        return findings.stream().max(Comparator.comparingDouble(Finding::score));
    }

    private Optional<Finding> judge(Work work, SampleStep row) {
        double ofSamples = (double) row.slowSamples() / row.samples();
        if (row.samples() < LEAST_SAMPLES || ofSamples > MOST_OF_SAMPLES || row.slowShare() < LEAST_OF_TIME) {
            return Optional.empty();
        }
        double waited = work.causes.stream().mapToDouble(cause -> facts.causeNanos[cause.ordinal()]
                + facts.orderedBehindNanos[cause.ordinal()]).sum();
        double share = facts.stepNanos == 0 ? 0 : row.slowShare() * waited / facts.stepNanos;
        if (share < StepRules.INFO_SHARE) {
            return Optional.empty();
        }
        Optional<SizeClass> large = large(row);
        String which = large.map(size -> NumberText.count(size.samples(), "sample") + " of at least "
                + NumberText.round(size.leastBytes(), "B")).orElse(NumberText.count(row.slowSamples(), "sample")
                + " of " + String.format(Locale.ROOT, "%,d", row.samples()));
        String slowest = times().slowest().stream().limit(NAMED).map(SampleTimes.SlowSample::name)
                .collect(Collectors.joining(", "));
        Map<String, @Nullable Object> evidence = Json.members("step", work.name, "slow_samples", row.slowSamples(),
                "share_of_samples", ofSamples, "share_of_" + work.name, row.slowShare(), "p50_ms", row.p50Millis(),
                "p99_ms", row.p99Millis(), "least_bytes", large.map(SizeClass::leastBytes).orElse(null),
                "slowest", slowest, "share_of_step", share);
        return Optional.of(new Finding(Verdict.SLOW_SAMPLES, StepRules.severity(share), share,
                NumberText.percent(ofSamples) + " of samples take " + NumberText.percent(row.slowShare()) + " of "
                        + work.name + ": " + which + ". The slowest: " + slowest + ".",
                large.isPresent() ? "Store these samples smaller, or split them; prefetch more, so that a slow sample"
                        + " begins sooner."
                        : "Look at the slowest samples: if the same ones return in each epoch, store them in a cheaper"
                                + " form; otherwise something else uses the machine. Prefetch more, so that a slow"
                                + " sample begins sooner.",
                List.of(), evidence));
    }

    /**
     * The samples from a size on, if size tells which are slow: about as many as the slow ones, with most of their
     * time.
     */
    private Optional<SizeClass> large(SampleStep row) {
        List<SizeClass> sizes = times().sizes();
        double all = sizes.stream().mapToDouble(SizeClass::nanos).sum();
        for (int from = 1; from < sizes.size(); from++) {
            List<SizeClass> above = sizes.subList(from, sizes.size());
            long samples = above.stream().mapToLong(SizeClass::samples).sum();
            long nanos = above.stream().mapToLong(SizeClass::nanos).sum();
            if (samples <= 2 * row.slowSamples()) {
                return nanos < row.slowShare() * all / 2 ? Optional.empty()
                        : Optional.of(new SizeClass(above.getFirst().leastBytes(), samples, nanos));
            }
        }
        return Optional.empty();
    }
}
