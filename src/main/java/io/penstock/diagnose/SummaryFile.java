package io.penstock.diagnose;

import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.io.index.JsonFile;
import io.penstock.io.publish.AtomicFile;
import io.penstock.io.publish.Folder;
import io.penstock.json.Json;
import io.penstock.json.JsonFields;
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

/**
 * A summary as a file: the sections of TraceML's {@code final_summary.json}, schema 1.7, so that its {@code view} and
 * {@code compare} can read it. Three more sections hold all data: {@code input_pipeline}, {@code fingerprint} and
 * {@code overhead}.
 */
final class SummaryFile {

    private static final double SCHEMA_VERSION = 1.7;
    private static final long MAX_BYTES = 64L << 20;

    private final Summary summary;

    private SummaryFile(Summary summary) {
        this.summary = summary;
    }

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
        Map<String, Object> pipeline = Json.object(members.take("input_pipeline"));
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("run", members.takeIfThere("meta") instanceof Map<?, ?> meta ? meta.get("run_name") : null);
        for (String key : List.of("generated_at", "duration_s", "fingerprint", "overhead")) {
            all.put(key, members.takeIfThere(key));
        }
        for (String key : List.of("clock", "ranks", "findings")) {
            all.put(key, pipeline.get(key));
        }
        all.put("input", pipeline);
        return RecordJson.record(all, Summary.class, "summary");
    }

    static Map<String, Object> json(Summary summary) {
        return new SummaryFile(summary).json();
    }

    private Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("schema_version", SCHEMA_VERSION);
        json.put("generated_at", summary.generatedAt().toString());
        json.put("duration_s", summary.durationSeconds());
        json.put("meta", meta());
        json.put("primary_diagnosis", primary());
        json.put("system", empty("system", "node_rank"));
        json.put("process", empty("process", "global_rank"));
        json.put("step_time", stepTime());
        json.put("step_memory", stepMemory());
        Map<String, Object> pipeline = new LinkedHashMap<>();
        pipeline.put("clock", summary.clock());
        pipeline.put("ranks", RecordJson.write(summary.ranks()));
        pipeline.put("findings", RecordJson.write(summary.findings()));
        pipeline.putAll(RecordJson.members(summary.input()));
        json.put("input_pipeline", pipeline);
        json.put("fingerprint", RecordJson.members(summary.fingerprint()));
        json.put("overhead", RecordJson.members(summary.overhead()));
        json.put("text", SummaryText.of(summary));
        return json;
    }

    private Map<String, Object> meta() {
        Map<String, Object> meta = new LinkedHashMap<>();
        meta.put("run_name", summary.run());
        meta.put("mode", mode());
        meta.put("world_size", summary.fingerprint().worldSize());
        meta.put("nodes_observed", hosts());
        meta.put("gpus_observed", summary.fingerprint().gpu() == null ? 0 : summary.ranks().size());
        return meta;
    }

    private int hosts() {
        return (int) summary.ranks().stream().map(RankSteps::host).distinct().count();
    }

    private String mode() {
        return summary.ranks().isEmpty() ? "no_data" : hosts() > 1 ? "multi_node" : "single_node";
    }

    private Map<String, Object> primary() {
        Finding first = summary.findings().getFirst();
        Map<String, Object> primary = new LinkedHashMap<>();
        primary.put("kind", first.verdict().kind());
        primary.put("status", first.verdict().label());
        primary.put("severity", first.severity().label());
        primary.put("section", "step_time");
        primary.put("scope", "performance");
        primary.put("summary", first.summary());
        primary.put("action", first.action());
        primary.put("evidence", RecordJson.write(first.evidence()));
        return primary;
    }

    private static Map<String, Object> issue(Finding finding) {
        Object share = finding.evidence().get("share");
        Map<String, Object> issue = new LinkedHashMap<>();
        issue.put("kind", finding.verdict().kind());
        issue.put("status", finding.verdict().label());
        issue.put("severity", finding.severity().label());
        issue.put("summary", finding.summary());
        issue.put("action", finding.action());
        issue.put("metric", metric(finding.verdict()));
        issue.put("phase", phase(finding.verdict()));
        issue.put("score", finding.score());
        issue.put("share_pct", share);
        issue.put("skew_pct", finding.verdict().name().endsWith("STRAGGLER") ? finding.score() : null);
        issue.put("ranks", finding.ranks());
        issue.put("evidence", RecordJson.write(finding.evidence()));
        return issue;
    }

    private static String metric(Verdict verdict) {
        return switch (verdict) {
            case INPUT_BOUND, INPUT_STRAGGLER -> "input_wait";
            case H2D_BOUND, H2D_STRAGGLER -> "h2d";
            case RESIDUAL_HEAVY -> "residual_proxy";
            case COMPUTE_BOUND -> "compute";
            case COMPUTE_STRAGGLER -> "forward";
            case STRAGGLER -> "backward";
            default -> null;
        };
    }

    private static String phase(Verdict verdict) {
        return switch (verdict) {
            case INPUT_BOUND, INPUT_STRAGGLER -> "input";
            case H2D_BOUND, H2D_STRAGGLER -> "h2d";
            case RESIDUAL_HEAVY -> "residual";
            case COMPUTE_BOUND -> "compute";
            case COMPUTE_STRAGGLER -> "forward";
            case STRAGGLER -> "sync";
            default -> null;
        };
    }

    // ---- sections

    private Map<String, Object> section(List<Finding> findings, Map<String, ToDoubleFunction<RankSteps>> metrics,
            String unit, String ofUnit) {
        List<Map<String, Object>> issues = findings.stream().map(SummaryFile::issue).toList();
        Map<String, Object> section = new LinkedHashMap<>();
        section.put("metadata", metadata(metrics));
        section.put("diagnosis", issues.getFirst());
        section.put("issues", issues);
        section.put("global", global(metrics));
        Map<String, Object> groups = new LinkedHashMap<>();
        groups.put("by", "global_rank");
        groups.put("rows", rows(metrics));
        section.put("groups", groups);
        section.put("units", Map.of(unit, ofUnit));
        section.put("card", findings.getFirst().verdict().label() + ": " + findings.getFirst().summary());
        return section;
    }

    private Map<String, Object> metadata(Map<String, ToDoubleFunction<RankSteps>> metrics) {
        long last = summary.ranks().stream().mapToLong(RankSteps::lastStep).max().orElse(-1);
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("mode", mode());
        metadata.put("duration_s", summary.durationSeconds());
        metadata.put("samples", null);
        metadata.put("nodes_expected", null);
        metadata.put("nodes_observed", hosts());
        metadata.put("nodes_coverage", null);
        metadata.put("nodes_partial", null);
        metadata.put("gpus_observed", null);
        metadata.put("global_ranks_seen", summary.ranks().size());
        metadata.put("global_ranks_used", summary.ranks().size());
        metadata.put("training_total_steps", last + 1);
        metadata.put("training_latest_step", last < 0 ? null : last);
        metadata.put("section_metric_names", List.copyOf(metrics.keySet()));
        return metadata;
    }

    private Map<String, Object> global(Map<String, ToDoubleFunction<RankSteps>> metrics) {
        Map<String, Object> average = new LinkedHashMap<>();
        Map<String, Object> median = new LinkedHashMap<>();
        Map<String, Object> worst = new LinkedHashMap<>();
        metrics.forEach((name, metric) -> {
            List<RankSteps> sorted = summary.ranks().stream().filter(rank -> !Double.isNaN(metric.applyAsDouble(rank)))
                    .sorted(Comparator.comparingDouble(metric)).toList();
            average.put(name, value(sorted.stream().mapToDouble(metric).average().orElse(Double.NaN)));
            median.put(name, point(sorted, metric, (sorted.size() - 1) / 2));
            worst.put(name, point(sorted, metric, sorted.size() - 1));
        });
        Map<String, Object> global = new LinkedHashMap<>();
        global.put("index_by", "global_rank");
        global.put("window", window());
        global.put("average", average);
        global.put("median", median);
        global.put("worst", worst);
        return global;
    }

    private static Object value(double value) {
        return Double.isFinite(value) ? value : null;
    }

    private static Map<String, Object> point(List<RankSteps> sorted, ToDoubleFunction<RankSteps> metric, int index) {
        Map<String, Object> point = new LinkedHashMap<>();
        point.put("value", sorted.isEmpty() ? null : value(metric.applyAsDouble(sorted.get(index))));
        point.put("idx", sorted.isEmpty() ? null : String.valueOf(sorted.get(index).rank()));
        return point;
    }

    private Map<String, Object> window() {
        long first = summary.ranks().stream().mapToLong(RankSteps::firstStep).max().orElse(-1);
        long last = summary.ranks().stream().mapToLong(RankSteps::lastStep).min().orElse(-1);
        long steps = summary.ranks().stream().mapToLong(RankSteps::steps).min().orElse(0);
        Map<String, Object> window = new LinkedHashMap<>();
        window.put("kind", "step_window");
        window.put("alignment", "common_steps");
        window.put("samples", null);
        window.put("steps_analyzed", steps);
        window.put("start_step", first < 0 ? null : first);
        window.put("end_step", last < 0 ? null : last);
        window.put("completed_step", last < 0 ? null : last);
        window.put("window_size", steps);
        window.put("diagnosis_clock", summary.clock());
        return window;
    }

    private Map<String, Object> rows(Map<String, ToDoubleFunction<RankSteps>> metrics) {
        Map<Integer, Object> rows = new TreeMap<>();
        for (RankSteps rank : summary.ranks()) {
            Map<String, Object> identity = new LinkedHashMap<>();
            identity.put("global_rank", rank.rank());
            identity.put("local_rank", null);
            identity.put("node_rank", summary.ranks().stream().map(RankSteps::host).distinct().toList()
                    .indexOf(rank.host()));
            identity.put("hostname", rank.host());
            identity.put("local_world_size", null);
            identity.put("world_size", summary.fingerprint().worldSize());
            Map<String, Object> values = new LinkedHashMap<>();
            metrics.forEach((name, metric) -> values.put(name, value(metric.applyAsDouble(rank))));
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("identity", identity);
            row.put("metrics", values);
            rows.put(rank.rank(), row);
        }
        Map<String, Object> named = new LinkedHashMap<>();
        rows.forEach((rank, row) -> named.put(String.valueOf(rank), row));
        return named;
    }

    private Map<String, Object> stepTime() {
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

    private Map<String, Object> stepMemory() {
        Map<String, ToDoubleFunction<RankSteps>> metrics = new LinkedHashMap<>();
        ToDoubleFunction<RankSteps> peak = rank -> rank.peakMemoryBytes() > 0 ? rank.peakMemoryBytes() : Double.NaN;
        metrics.put("peak_allocated_bytes", peak);
        metrics.put("peak_reserved_bytes", peak);
        return section(List.of(new Finding(summary.ranks().isEmpty() ? Verdict.NO_DATA : Verdict.BALANCED,
                Severity.INFO, 0, "The memory of batches, allocated at open; the model's memory is not visible here.",
                "", List.of(), Map.of())), metrics, "memory", "bytes");
    }

    private static Map<String, Object> empty(String name, String indexBy) {
        Map<String, Object> section = new LinkedHashMap<>();
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("mode", "no_data");
        metadata.put("samples", 0);
        metadata.put("section_metric_names", List.of());
        section.put("metadata", metadata);
        Map<String, Object> none = issue(new Finding(Verdict.NO_DATA, Severity.INFO, 0,
                "Not measured by a data loader.", "", List.of(), Map.of()));
        section.put("diagnosis", none);
        section.put("issues", List.of(none));
        Map<String, Object> global = new LinkedHashMap<>();
        global.put("index_by", indexBy);
        global.put("window", Map.of("kind", "sample_window", "alignment", "none", "samples", 0));
        for (String block : List.of("average", "median", "worst")) {
            global.put(block, Map.of());
        }
        section.put("global", global);
        section.put("groups", Map.of("by", indexBy, "rows", Map.of()));
        section.put("units", Map.of());
        section.put("card", name + ": not measured");
        return section;
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
        String clock = summaries.stream().allMatch(summary -> summary.clock().equals("gpu")) ? "gpu" : "cpu";
        int world = summaries.stream().mapToInt(summary -> summary.fingerprint().worldSize()).max().orElseThrow();
        List<Finding> findings = new ArrayList<>(StepRules.judge(List.copyOf(ranks.values()), world, clock));
        slowest.findings().stream().filter(finding -> !finding.verdict().isOfStep())
                .map(finding -> new Finding(finding.verdict(), finding.severity(), finding.score(),
                        finding.summary(), finding.action(), List.of(slowest.input().rank()), finding.evidence()))
                .forEach(findings::add);
        return new Summary(slowest.run(), summaries.stream().map(Summary::generatedAt)
                        .max(Comparator.naturalOrder()).orElse(Instant.EPOCH),
                summaries.stream().mapToDouble(Summary::durationSeconds).max().orElse(0), slowest.fingerprint(),
                clock, List.copyOf(ranks.values()), List.copyOf(findings), slowest.input(), slowest.overhead());
    }
}
