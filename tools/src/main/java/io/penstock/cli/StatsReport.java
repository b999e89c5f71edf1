// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.diagnose.data.DataFinding;
import io.penstock.diagnose.data.DataProfile;
import io.penstock.diagnose.data.DataStatistics;
import io.penstock.diagnose.data.FieldKind;
import io.penstock.diagnose.data.FieldProfile;
import io.penstock.json.Json;
import io.penstock.json.RecordJson;
import io.penstock.text.NumberText;
import io.penstock.text.TimeText;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The values in the batches and their changes, as text and as JSON.
 *
 * @param cost the cost of reading the values
 * @param nanos the time from before the first batch
 * @param baseline the profile to compare with; null if there is none
 * @param overEpochs the changes since the first epoch
 * @param save where the profile was saved; null if it was not
 */
record StatsReport(DataProfile seen, DataStatistics.Effort cost, long taken, long nanos,
        @Nullable DataProfile baseline, List<Path> baselines, List<DataFinding> sinceBaseline, long epochs,
        List<DataFinding> overEpochs, @Nullable Path save) {

    private static final int FREQUENT = 5;

    boolean hasDrift() {
        return !sinceBaseline.isEmpty() || !overEpochs.isEmpty();
    }

    String text() {
        StringBuilder text = new StringBuilder();
        text.append(String.format(Locale.ROOT, "sampled  %s of %s: %s, %s in %s%n%n",
                NumberText.of(seen.batches(), ""), NumberText.count(taken, "batch", "batches"),
                NumberText.count(seen.samples(), "sample"), NumberText.count(cost.values(), "value"),
                TimeText.millis(cost.nanos())));
        for (FieldProfile field : seen.fields()) {
            append(text, field);
        }
        if (seen.badShare() > 0) {
            text.append("Bad samples: ").append(NumberText.percent(seen.badShare())).append(".\n");
        }
        text.append('\n');
        if (baseline != null) {
            append(text, "since " + names() + " (" + NumberText.count(baseline.samples(), "sample") + ")",
                    sinceBaseline);
        }
        if (epochs > 1) {
            append(text, "over " + epochs + " epochs", overEpochs);
        }
        return text.append(save == null ? "" : "Saved to " + save + ".\n").toString();
    }

    private String names() {
        return baselines.stream().map(Path::toString).collect(Collectors.joining(", "));
    }

    private static void append(StringBuilder text, String since, List<DataFinding> findings) {
        text.append(findings.isEmpty() ? "No change " : "CHANGED ").append(since)
                .append(findings.isEmpty() ? ".\n" : ":\n");
        findings.forEach(finding -> text.append("  ").append(finding).append('\n'));
    }

    private static void append(StringBuilder text, FieldProfile field) {
        text.append(field.name()).append("  ").append(field.shape()).append(": ")
                .append(NumberText.count(field.values(), "value"));
        if (field.values() > 0) {
            text.append(" from ").append(number(field.min())).append(" to ").append(number(field.max()));
        }
        if (field.kind() != FieldKind.IDS) {
            text.append("; mean ").append(channels(field, field::mean)).append(", standard deviation ")
                    .append(channels(field, field::deviation));
        } else if (field.values() > 0) {
            text.append("; most frequent ").append(frequent(field).stream().map(bucket -> field.bucketName(bucket)
                    + " " + NumberText.roughPercent(share(field, bucket)))
                    .collect(Collectors.joining(", ")));
        }
        if (!Double.isNaN(field.paddingShare())) {
            text.append("; padding ").append(NumberText.percent(field.paddingShare()));
        }
        if (field.constantShare() > 0) {
            text.append("; constant rows ").append(NumberText.percent(field.constantShare()));
        }
        if (field.nonFinite() > 0) {
            text.append("; ").append(NumberText.count(field.nonFinite(), "non-finite value"));
        }
        text.append('\n');
    }

    private static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15 ? Long.toString((long) value)
                : String.format(Locale.ROOT, "%.4g", value);
    }

    private static String channels(FieldProfile field, IntToDoubleFunction which) {
        return IntStream.range(0, field.channels()).mapToObj(channel ->
                String.format(Locale.ROOT, "%.4g", which.applyAsDouble(channel))).collect(Collectors.joining(" "));
    }

    private static List<Integer> frequent(FieldProfile field) {
        long[] histogram = field.histogram();
        return IntStream.range(0, histogram.length).boxed().filter(bucket -> histogram[bucket] > 0)
                .sorted(Comparator.comparingLong((Integer bucket) -> -histogram[bucket])).limit(FREQUENT).toList();
    }

    private static double share(FieldProfile field, int bucket) {
        long[] histogram = field.histogram();
        return (double) histogram[bucket] / LongStream.of(histogram).sum();
    }

    Map<String, @Nullable Object> fields(Map<String, @Nullable Object> plan) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>(plan);
        json.putAll(Json.members("batches_read", taken, "batches_looked_at", seen.batches(),
                "samples_looked_at", seen.samples(), "values_looked_at", cost.values(), "look_ms", cost.nanos() / 1e6,
                "seconds", nanos / 1e9, "bad_share", RecordJson.write(seen.badShare()),
                "fields", RecordJson.write(seen.fields().stream().map(StatsReport::json).toList()),
                "baseline", baseline == null ? null : baselines.stream().map(Path::toString).toList(),
                "changed_since_baseline", RecordJson.write(sinceBaseline.stream().map(StatsReport::json).toList()),
                "changed_over_epochs", RecordJson.write(overEpochs.stream().map(StatsReport::json).toList()),
                "drift", hasDrift()));
        return json;
    }

    private static Map<String, @Nullable Object> json(FieldProfile field) {
        Map<String, @Nullable Object> json = Json.members("name", field.name(), "shape", field.shape(),
                "kind", field.kind(), "rows", field.rows(), "values", field.values(), "min", field.min(),
                "max", field.max(), "padding_share", field.paddingShare(), "constant_share", field.constantShare(),
                "non_finite", field.nonFinite());
        if (field.kind() != FieldKind.IDS) {
            json.put("means", IntStream.range(0, field.channels()).mapToObj(field::mean).toList());
            json.put("deviations", IntStream.range(0, field.channels()).mapToObj(field::deviation).toList());
        } else {
            Map<String, @Nullable Object> often = new LinkedHashMap<>();
            frequent(field).forEach(bucket -> often.put(field.bucketName(bucket), share(field, bucket)));
            json.put("most_often", often);
        }
        return json;
    }

    private static Map<String, @Nullable Object> json(DataFinding finding) {
        return Json.members("field", finding.field(), "channel", finding.channel() < 0 ? null : finding.channel(),
                "measure", finding.measure(), "before", finding.before(), "now", finding.now(),
                "sigmas", finding.sigmas(), "epoch", finding.epoch() < 0 ? null : finding.epoch(),
                "text", finding.toString());
    }
}
