// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.io.publish.AtomicFile;
import io.penstock.io.publish.Folder;
import io.penstock.io.publish.JsonFile;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
import io.penstock.json.RecordJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * A summary as a file: the sections of TraceML's {@code final_summary.json}, schema 1.7, so that its {@code view} and
 * {@code compare} can read it. More sections hold all data: {@code input_pipeline}, {@code fingerprint}, {@code
 * overhead}, {@code interludes}, {@code machine} and {@code samples}.
 */
record SummaryFile(Summary summary) {

    private static final double SCHEMA_VERSION = 1.7;
    private static final long MAX_BYTES = 64L << 20;

    static void write(Summary summary, Path folder) throws IOException {
        Folder.create(folder);
        AtomicFile.write(folder.resolve(Summary.JSON_FILE), Json.pretty(json(summary)));
        AtomicFile.write(folder.resolve(Summary.TEXT_FILE), SummaryText.of(summary) + "\n");
    }

    static Summary read(Path path) throws IOException {
        Path file = Files.isDirectory(path) ? path.resolve(Summary.JSON_FILE) : path;
        return JsonFile.read(file, "a summary", MAX_BYTES, SummaryFile::read);
    }

    private static Summary read(JsonFields members) {
        if (!members.has("input_pipeline") || !members.has("fingerprint")) {
            throw members.wrong("input_pipeline, fingerprint", "nothing", "these sections (written by another tool?)");
        }
        Map<String, @Nullable Object> pipeline = Json.object(members.take("input_pipeline"));
        Map<String, @Nullable Object> all = Json.members(
                "run", members.takeIfThere("meta") instanceof Map<?, ?> meta ? meta.get("run_name") : null);
        for (String key : List.of("generated_at", "duration_s", "fingerprint", "overhead", "interludes", "machine",
                "samples")) {
            all.put(key, members.takeIfThere(key));
        }
        for (String key : List.of("clock", "ranks", "findings")) {
            all.put(key, pipeline.get(key));
        }
        all.put("input", pipeline);
        return RecordJson.record(all, Summary.class, "summary");
    }

    static Map<String, @Nullable Object> json(Summary summary) {
        return new SummaryFile(summary).json();
    }

    private Map<String, @Nullable Object> json() {
        Map<String, @Nullable Object> json = Json.members("schema_version", SCHEMA_VERSION,
                "generated_at", summary.generatedAt().toString(), "duration_s", summary.durationSeconds(),
                "meta", meta(), "primary_diagnosis", primary(), "system", empty("system", "node_rank"),
                "process", empty("process", "global_rank"), "step_time", stepTime(), "step_memory", stepMemory());
        Map<String, @Nullable Object> pipeline = Json.members("clock", summary.clock(),
                "ranks", RecordJson.write(summary.ranks()), "findings", RecordJson.write(summary.findings()));
        pipeline.putAll(RecordJson.members(summary.input()));
        json.put("input_pipeline", pipeline);
        json.put("fingerprint", RecordJson.members(summary.fingerprint()));
        json.put("overhead", RecordJson.members(summary.overhead()));
        json.put("interludes", RecordJson.write(summary.interludes()));
        json.put("machine", RecordJson.write(summary.machine()));
        json.put("samples", RecordJson.write(summary.samples()));
        json.put("text", SummaryText.of(summary));
        return json;
    }

    private Map<String, @Nullable Object> meta() {
        return Json.members("run_name", summary.run(), "mode", mode(), "world_size", summary.fingerprint().worldSize(),
                "nodes_observed", hosts(),
                "gpus_observed", summary.fingerprint().gpu() == null ? 0 : summary.ranks().size());
    }

    private int hosts() {
        return (int) summary.ranks().stream().map(RankSteps::host).distinct().count();
    }

    private String mode() {
        return summary.ranks().isEmpty() ? "no_data" : hosts() > 1 ? "multi_node" : "single_node";
    }

    private Map<String, @Nullable Object> primary() {
        Finding first = summary.findings().getFirst();
        return Json.members("kind", first.verdict().name(), "status", first.verdict().label(),
                "severity", first.severity().label(), "section", "step_time", "scope", "performance",
                "summary", first.summary(), "action", first.action(), "evidence", RecordJson.write(first.evidence()));
    }

    private static Map<String, @Nullable Object> issue(Finding finding) {
        return Json.members("kind", finding.verdict().name(), "status", finding.verdict().label(),
                "severity", finding.severity().label(), "summary", finding.summary(), "action", finding.action(),
                "metric", finding.verdict().metric, "phase", finding.verdict().part, "score", finding.score(),
                "share_pct", finding.evidence().get("share"),
                "skew_pct", finding.verdict().isOfStraggler() ? finding.score() : null, "ranks", finding.ranks(),
                "evidence", RecordJson.write(finding.evidence()));
    }

    // ---- sections

    private Map<String, @Nullable Object> section(List<Finding> findings,
            Map<String, ToDoubleFunction<RankSteps>> metrics, String unit, String ofUnit) {
        List<Map<String, @Nullable Object>> issues = findings.stream().map(SummaryFile::issue).toList();
        return Json.members("metadata", metadata(metrics), "diagnosis", issues.getFirst(), "issues", issues,
                "global", global(metrics), "groups", Json.members("by", "global_rank", "rows", rows(metrics)),
                "units", Map.of(unit, ofUnit),
                "card", findings.getFirst().verdict().label() + ": " + findings.getFirst().summary());
    }

    private Map<String, @Nullable Object> metadata(Map<String, ToDoubleFunction<RankSteps>> metrics) {
        long last = summary.ranks().stream().mapToLong(RankSteps::lastStep).max().orElse(-1);
        return Json.members("mode", mode(), "duration_s", summary.durationSeconds(), "samples", null,
                "nodes_expected", null, "nodes_observed", hosts(), "nodes_coverage", null, "nodes_partial", null,
                "gpus_observed", null, "global_ranks_seen", summary.ranks().size(),
                "global_ranks_used", summary.ranks().size(), "training_total_steps", last + 1,
                "training_latest_step", last < 0 ? null : last, "section_metric_names", List.copyOf(metrics.keySet()));
    }

    private Map<String, @Nullable Object> global(Map<String, ToDoubleFunction<RankSteps>> metrics) {
        Map<String, @Nullable Object> average = new LinkedHashMap<>();
        Map<String, @Nullable Object> median = new LinkedHashMap<>();
        Map<String, @Nullable Object> worst = new LinkedHashMap<>();
        metrics.forEach((name, metric) -> {
            List<RankSteps> sorted = summary.ranks().stream().filter(rank -> !Double.isNaN(metric.applyAsDouble(rank)))
                    .sorted(Comparator.comparingDouble(metric)).toList();
            average.put(name, RecordJson.write(sorted.stream().mapToDouble(metric).average().orElse(Double.NaN)));
            median.put(name, point(sorted, metric, (sorted.size() - 1) / 2));
            worst.put(name, point(sorted, metric, sorted.size() - 1));
        });
        return Json.members("index_by", "global_rank", "window", window(), "average", average, "median", median,
                "worst", worst);
    }

    private static Map<String, @Nullable Object> point(List<RankSteps> sorted, ToDoubleFunction<RankSteps> metric,
            int index) {
        return Json.members(
                "value", sorted.isEmpty() ? null : RecordJson.write(metric.applyAsDouble(sorted.get(index))),
                "idx", sorted.isEmpty() ? null : String.valueOf(sorted.get(index).rank()));
    }

    private Map<String, @Nullable Object> window() {
        long first = summary.ranks().stream().mapToLong(RankSteps::firstStep).max().orElse(-1);
        long last = summary.ranks().stream().mapToLong(RankSteps::lastStep).min().orElse(-1);
        long steps = summary.ranks().stream().mapToLong(RankSteps::steps).min().orElse(0);
        return Json.members("kind", "step_window", "alignment", "common_steps", "samples", null,
                "steps_analyzed", steps, "start_step", first < 0 ? null : first, "end_step", last < 0 ? null : last,
                "completed_step", last < 0 ? null : last, "window_size", steps, "diagnosis_clock", summary.clock());
    }

    private Map<String, @Nullable Object> rows(Map<String, ToDoubleFunction<RankSteps>> metrics) {
        Map<String, @Nullable Object> rows = new LinkedHashMap<>();
        summary.ranks().stream().sorted(Comparator.comparingInt(RankSteps::rank)).forEach(rank -> {
            Map<String, @Nullable Object> identity = Json.members("global_rank", rank.rank(), "local_rank", null,
                    "node_rank", summary.ranks().stream().map(RankSteps::host).distinct().toList().indexOf(rank.host()),
                    "hostname", rank.host(), "local_world_size", null, "world_size", summary.fingerprint().worldSize());
            Map<String, @Nullable Object> values = new LinkedHashMap<>();
            metrics.forEach((name, metric) -> values.put(name, RecordJson.write(metric.applyAsDouble(rank))));
            rows.put(String.valueOf(rank.rank()), Json.members("identity", identity, "metrics", values));
        });
        return rows;
    }

    private Map<String, @Nullable Object> stepTime() {
        boolean gpu = summary.clock().equals("gpu");
        Map<String, ToDoubleFunction<RankSteps>> metrics = new LinkedHashMap<>();
        metrics.put("input_wait_ms", RankSteps::inputWaitMillis);
        metrics.put("step_time_ms", RankSteps::stepMillis);
        metrics.put("traced_step_time_ms", SummaryFile::traced);
        metrics.put("step_time_cpu_ms", RankSteps::stepMillis);
        metrics.put("step_time_gpu_ms", gpu ? RankSteps::stepMillis : _ -> Double.NaN);
        metrics.put("traced_step_time_cpu_ms", SummaryFile::traced);
        metrics.put("traced_step_time_gpu_ms", gpu ? SummaryFile::traced : _ -> Double.NaN);
        metrics.put("dataloader_fetch_cpu_ms", RankSteps::fetchMillis);
        metrics.put("h2d_ms", RankSteps::h2dMillis);
        metrics.put("compute_ms", RankSteps::computeMillis);
        metrics.put("residual_ms", RankSteps::residualMillis);
        metrics.put("forward_ms", RankSteps::forwardMillis);
        metrics.put("backward_ms", RankSteps::backwardMillis);
        metrics.put("optimizer_ms", RankSteps::optimizerMillis);
        return section(summary.findings().stream().filter(finding -> finding.verdict().isOfStep()).toList(), metrics,
                "time", "ms");
    }

    private static double traced(RankSteps rank) {
        return Math.max(0, rank.stepMillis() - rank.inputWaitMillis());
    }

    private Map<String, @Nullable Object> stepMemory() {
        Map<String, ToDoubleFunction<RankSteps>> metrics = new LinkedHashMap<>();
        ToDoubleFunction<RankSteps> peak = rank -> rank.peakMemoryBytes() > 0 ? rank.peakMemoryBytes() : Double.NaN;
        metrics.put("peak_allocated_bytes", peak);
        metrics.put("peak_reserved_bytes", peak);
        return section(List.of(Finding.info(summary.ranks().isEmpty() ? Verdict.NO_DATA : Verdict.BALANCED,
                "The memory of batches, allocated at open; the model's memory is not visible here.", "")), metrics,
                "memory", "bytes");
    }

    private static Map<String, @Nullable Object> empty(String name, String indexBy) {
        Map<String, @Nullable Object> none = issue(Finding.info(Verdict.NO_DATA, "Not measured by a data loader.", ""));
        return Json.members(
                "metadata", Json.members("mode", "no_data", "samples", 0, "section_metric_names", List.of()),
                "diagnosis", none, "issues", List.of(none),
                "global", Json.members("index_by", indexBy,
                        "window", Map.of("kind", "sample_window", "alignment", "none", "samples", 0),
                        "average", Map.of(), "median", Map.of(), "worst", Map.of()),
                "groups", Map.of("by", indexBy, "rows", Map.of()), "units", Map.of(),
                "card", name + ": not measured");
    }

    /** Merges several ranks' summaries. */
    static Summary merge(List<Summary> summaries) {
        if (summaries.isEmpty()) {
            throw new IllegalArgumentException("found no summaries to merge, expected at least one");
        }
        Map<Integer, RankSteps> ranks = new TreeMap<>();
        for (Summary summary : summaries) {
            for (RankSteps rank : summary.ranks()) {
                if (ranks.put(rank.rank(), rank) != null) {
                    throw new IllegalArgumentException("found two summaries of rank " + rank.rank()
                            + ", expected one per rank");
                }
            }
        }
        Summary slowest = summaries.stream().max(Comparator.comparingDouble(summary -> summary.ranks().stream()
                .mapToDouble(RankSteps::inputWaitMillis).max().orElse(-1))).orElseThrow();
        String clock = summaries.stream().map(Summary::clock).distinct().count() == 1 ? slowest.clock()
                : Summary.CLOCKS_OF_BOTH;
        int world = summaries.stream().mapToInt(summary -> summary.fingerprint().worldSize()).max().orElseThrow();
        List<Finding> findings = new ArrayList<>(StepRules.judge(List.copyOf(ranks.values()), world, clock));
        slowest.findings().stream().filter(finding -> !finding.verdict().isOfStep())
                .map(finding -> finding.ofRank(slowest.input().rank())).forEach(findings::add);
        return new Summary(slowest.run(), summaries.stream().map(Summary::generatedAt)
                        .max(Comparator.naturalOrder()).orElse(Instant.EPOCH),
                summaries.stream().mapToDouble(Summary::durationSeconds).max().orElse(0), slowest.fingerprint(),
                clock, List.copyOf(ranks.values()), List.copyOf(findings), slowest.input(), slowest.overhead(),
                slowest.interludes(), slowest.machine(), slowest.samples());
    }
}
