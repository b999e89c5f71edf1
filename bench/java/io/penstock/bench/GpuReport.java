// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Makes {@code report.md} of what the GPU bundle's run has left in a folder, and {@code report.json} with the same;
 * what is missing it calls missing.
 */
public final class GpuReport {
    private static final long BIG = 1L << 20;
    private static final long PIECE = 16L << 20;
    private static final long SMALL = 8L << 20;
    /** Sums are added in another order, and exponentials rounded otherwise. */
    private static final double MAX_LOSS_DIFFERENCE = 1e-3;
    private static final Pattern TEST_COUNT = Pattern.compile(
            "\\[ *(\\d+) tests (found|skipped|aborted|successful|failed) *]");

    private final Path folder;
    private final StringBuilder out = new StringBuilder();
    private final Map<String, Object> json = new LinkedHashMap<>();
    private final List<Map<String, Object>> bounds = new ArrayList<>();

    private GpuReport(Path folder) {
        this.folder = folder;
    }

    /** Takes the folder. Ends with 1 if a test failed or none ran, or a measurement is missing. */
    public static void main(String[] args) throws IOException {
        var report = new GpuReport(Path.of(args[0]));
        boolean whole = report.write();
        Files.writeString(report.folder.resolve("report.md"), report.out);
        report.json.put("whole", whole);
        Files.writeString(report.folder.resolve("report.json"), Json.pretty(report.json));
        if (!whole) {
            System.exit(1);
        }
    }

    private boolean write() throws IOException {
        List<Map<String, Object>> transfer = new ArrayList<>(lines("transfer.jsonl"));
        transfer.addAll(lines("steps.jsonl").stream().filter(line -> !"machine".equals(line.get("kind"))).toList());
        List<Map<String, Object>> throughput = lines("throughput.jsonl");
        List<Map<String, Object>> torch = lines("torch.txt");
        List<Map<String, Object>> jitter = lines("jitter.jsonl");
        out.append("# Penstock on a GPU\n\n");
        for (Map<String, Object> why : of(transfer, "unavailable")) {
            out.append("**No device: ").append(why.get("message")).append("**\n\n");
        }
        machine(of(transfer, "machine"));
        smoke();
        boolean tested = tests();
        List<Map<String, Object>> stages = lines("stages.jsonl");
        List<Double> onCpu = losses("gpt-cpu.csv");
        List<Double> onDevice = losses("gpt-device.csv");
        List<Map<String, Object>> clocks = lines("clocks.jsonl");
        List<Map<String, Object>> jpegs = lines("jpegs.jsonl");
        mustHold(transfer, jitter, stages, clocks, jpegs, onCpu, onDevice);
        json.put("must_hold", bounds);
        json.put("transfer", transfer);
        json.put("jitter", jitter);
        json.put("stages", stages);
        json.put("jpegs", jpegs);
        json.put("clocks", clocks);
        json.put("throughput", throughput);
        json.put("torch", torch);
        json.put("losses", Map.of("cpu", onCpu, "device", onDevice));
        transfers(of(transfer, "transfer"));
        tokens(of(transfer, "tokens"));
        steps(of(transfer, "step"));
        jitter(of(jitter, "jitter"));
        stages(of(stages, "stage"));
        jpegs(jpegs);
        clocks(of(clocks, "clock"), of(clocks, "loaders"));
        readings(of(lines("readings.jsonl"), "readings"));
        boolean trained = training(onCpu, onDevice);
        peers(throughput, torch);
        for (Map<String, Object> passed : of(transfer, "passed-over")) {
            out.append("Not measured: ").append(passed).append("\n");
        }
        for (String part : linesOf("left-out.txt")) {
            out.append("Left out: ").append(part).append("\n\n");
        }
        return tested && trained && !of(jitter, "jitter").isEmpty() && !of(transfer, "transfer").isEmpty()
                && !of(transfer, "step").isEmpty() && !of(stages, "stage").isEmpty() && !jpegs.isEmpty()
                && !of(clocks, "clock").isEmpty() && !of(clocks, "loaders").isEmpty();
    }

    private void machine(List<Map<String, Object>> machines) throws IOException {
        if (machines.isEmpty()) {
            out.append("No transfer was measured: see `run.log`.\n\n");
            return;
        }
        Map<String, Object> machine = machines.getFirst();
        if (Boolean.TRUE.equals(machine.get("simulated"))) {
            out.append("**Over the simulated CUDA runtime: the figures say that everything runs, and nothing of a GPU's"
                    + " speed.**\n\n");
        }
        table(machines, "device", "model", "compute_capability", "memory_bytes", "cuda_runtime", "cuda_driver", "host",
                "host_memory_bytes", "java");
    }

    private void readings(List<Map<String, Object>> readings) {
        json.put("readings", readings);
        out.append("## The watch of a run\n\nWhat it reads by NVML, beside `nvidia-smi` at the same time. Busy: the"
                + " device writes its memory.\n\n");
        table(readings, "state", "field", "nvml", "nvidia_smi");
    }

    /** Whether each part ran at all, as the smoke found, and why not. */
    private void smoke() throws IOException {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (String line : linesOf("smoke.txt")) {
            String[] cells = line.split("\t", 4);
            rows.add(Map.of("part", cells[2], "runs", cells[0].equals("ok") ? "yes" : "**no**", "seconds",
                    Long.parseLong(cells[1]), "reason", cells[3].replace("|", "\\|")));
        }
        json.put("smoke", rows);
        out.append("## Smoke\n\nEach part once, as short as can be; what it said is in `smoke.log`.\n\n");
        table(rows, "part", "runs", "seconds", "reason");
    }

    /** What the launcher of the tests said, and whether all that ran passed, and any did in each of its runs. */
    private boolean tests() throws IOException {
        out.append("## Tests on the device\n\n");
        boolean passed = true;
        Map<String, Object> all = new LinkedHashMap<>();
        for (String run : List.of("tests-kernels.txt", "tests-loader.txt")) {
            Map<String, Long> counts = new LinkedHashMap<>();
            Matcher found = TEST_COUNT.matcher(String.join("\n", linesOf(run)));
            while (found.find()) {
                counts.put(found.group(2), Long.parseLong(found.group(1)));
            }
            all.put(run, counts);
            out.append(counts.isEmpty() ? "`" + run + "`: did not run to its end.\n\n"
                    : "`" + run + "`, which names each: " + counts + "\n\n");
            long successful = counts.getOrDefault("successful", 0L);
            passed &= successful > 0 && successful == counts.get("found");
        }
        json.put("tests", all);
        return passed;
    }

    private void mustHold(List<Map<String, Object>> lines, List<Map<String, Object>> jitter,
            List<Map<String, Object>> stages, List<Map<String, Object>> clocks, List<Map<String, Object>> jpegs,
            List<Double> onCpu, List<Double> onDevice) throws IOException {
        List<Map<String, Object>> transfers = of(lines, "transfer");
        List<Map<String, Object>> big = transfers.stream().filter(row -> number(row, "bytes") >= BIG).toList();
        List<Map<String, Object>> pieces = transfers.stream().filter(row -> number(row, "bytes") >= PIECE).toList();
        List<Map<String, Object>> steps = of(lines, "step");
        List<Map<String, Object>> counted = new ArrayList<>(transfers);
        counted.addAll(steps);
        out.append("## What must hold\n\n| what | bound | worst | holds |\n|---|---:|---:|---|\n");
        bound("the loader, prefilled slots of at least 1 MiB, over peak", 0.95, least(big, "engine_over_peak"), true);
        bound("(an aim) the loader, prefilled slots of 64 KiB to 8 MiB, over bare copies from as many buffers", 0.95,
                least(transfers.stream().filter(row -> number(row, "bytes") <= SMALL).toList(), "engine_over_ring"),
                true);
        bound("steps with the loader over steps on a batch that is there", 1.02,
                greatest(steps, "engine_over_synthetic"), false);
        bound("bytes moved a sample, over PyTorch's `int64` ids and labels", 0.13,
                greatest(of(lines, "tokens"), "bytes_over_i64_ids_and_labels"), false);
        bound("submit, median, microseconds", 25, greatest(transfers, "submit_p50_micros"), false);
        bound("next() beside a step of 5 ms or more, median, microseconds", 20, greatest(steps, "next_p50_micros"),
                false);
        bound("(an aim) the launching thread's ticks beside a loader that rests, late, p99, microseconds", 20,
                greatest(of(jitter, "jitter").stream().filter(row -> "idle".equals(row.get("loader"))).toList(),
                        "late_p99_micros"), false);
        bound("(an aim) the same beside a saturated loader whose workers have a part of the processors", 20,
                least(of(jitter, "jitter").stream().filter(row -> "saturated".equals(row.get("loader"))).toList(),
                        "late_p99_micros"), false);
        bound("(an aim) page-locking, seconds a GiB, in pieces of at least 16 MiB", 0.6,
                greatest(pieces, "pin_seconds_per_gib"), false);
        bound("the device's clock, microseconds a batch on the trainer's thread", 1,
                greatest(of(clocks, "clock"), "added_micros"), false);
        bound("(an aim) two loaders on one device, together, over one", 0.95, least(of(clocks, "loaders"), "over_one"),
                true);
        double calls = greatest(counted, "cuda_calls_after_warmup");
        bound("allocations, frees, registrations after warm-up: calls, if the runtime counts them", 0,
                calls < 0 ? Double.NaN : calls, false);
        bound("the same: threads started to make such calls", 0, greatest(counted, "threads_after_warmup"), false);
        bound("the same: bytes of device memory", 0, greatest(counted, "device_bytes_after_warmup"), false);
        for (double bound : new double[] {3, 5}) {
            bound("augmentation on the device over normalization alone, " + (bound == 3 ? "one pass"
                    : "with a mean or a histogram"), bound, greatest(of(stages, "stage").stream()
                    .filter(row -> number(row, "bound") == bound).toList(), "over_images"), false);
        }
        bound("(an aim) images a second from JPEG files, by nvJPEG over by all cores", 5, greatest(jpegs.stream()
                .filter(row -> "device".equals(row.get("decoded_by"))).toList(), "over_workers"), true);
        int losses = Math.min(onCpu.size(), onDevice.size());
        bound("a GPT's losses on the device over those on the CPU, greatest difference", MAX_LOSS_DIFFERENCE,
                IntStream.range(0, losses).mapToDouble(i -> Math.abs(onDevice.get(i) - onCpu.get(i))).max()
                        .orElse(Double.NaN), false);
        List<Double> again = losses("gpt-again.csv");
        bound("the same run on the device once more: 1 if a loss has other bits", 0,
                again.isEmpty() ? Double.NaN : again.equals(onDevice) ? 0 : 1, false);
        out.append('\n');
    }

    /**
     * The trainer of {@code examples/gpt}: what it came to on the CPU and on the device, and how fast it is.
     *
     * @return whether it ran on the device, or there is no cuBLAS
     */
    private boolean training(List<Double> onCpu, List<Double> onDevice) throws IOException {
        out.append("## Training a GPT\n\nThe trainer of `examples/gpt` with a small model: the loss of each step.\n\n");
        List<Map<String, Object>> rows = new ArrayList<>();
        for (int i = 0; i < Math.min(onCpu.size(), onDevice.size()); i++) {
            rows.add(Map.of("step", i + 1, "cpu", onCpu.get(i), "device", onDevice.get(i)));
        }
        table(rows, "step", "cpu", "device");
        List<String> printed = linesOf("gpt-speed.txt");
        out.append("With a larger model, on the device:\n\n");
        printed.stream().filter(line -> line.matches("(text|model|step|train:) .*"))
                .forEach(line -> out.append("    ").append(line).append('\n'));
        out.append('\n');
        return !onDevice.isEmpty() && printed.stream().anyMatch(line -> line.startsWith("step "))
                || printed.stream().anyMatch(line -> line.startsWith("train: no cuBLAS"));
    }

    /** The losses that a trainer has logged: {@code step,loss} on each line, or more. */
    private List<Double> losses(String name) throws IOException {
        return linesOf(name).stream().map(line -> Double.parseDouble(line.split(",")[1])).toList();
    }

    /** The lines of a file, whatever was cut off in it; none if it is not there. */
    private List<String> linesOf(String name) throws IOException {
        Path file = folder.resolve(name);
        return Files.exists(file) ? new String(Files.readAllBytes(file), UTF_8).lines().toList() : List.of();
    }

    private void bound(String what, double bound, double found, boolean atLeast) {
        boolean known = Double.isFinite(found);
        boolean isHeld = atLeast ? found >= bound : found <= bound;
        String holds = !known ? "not measured" : isHeld ? "yes" : "**no**";
        var row = new LinkedHashMap<String, Object>();
        row.put("what", what);
        row.put(atLeast ? "at_least" : "at_most", bound);
        row.put("found", known ? found : null);
        row.put("holds", known ? isHeld : null);
        bounds.add(row);
        out.append(String.format(Locale.ROOT, "| %s | %s %s | %s | %s |%n", what, atLeast ? "≥" : "≤", text(bound),
                known ? text(found) : "", holds));
    }

    private void transfers(List<Map<String, Object>> rows) {
        out.append("## Transfer\n\nGB/s (10⁹ bytes), medians of rounds by turns. Peak: bare copies from one pinned"
                + " buffer. Ring: bare copies\nfrom as many buffers as the loader has. Engine: the loader, over slots"
                + " filled beforehand.\n\n");
        table(rows, "bytes", "copies", "rounds", "peak_gb_per_second", "ring_gb_per_second", "engine_gb_per_second",
                "engine_over_peak", "engine_over_ring", "submits", "submit_p50_micros", "submit_p99_micros",
                "pin_seconds_per_gib");
    }

    private void tokens(List<Map<String, Object>> rows) {
        out.append("## With collation\n\nShuffled windows of 1024+1 `u16` tokens, sent as the store holds them.\n\n");
        table(rows, "windows", "bytes", "workers", "peak_gb_per_second", "engine_gb_per_second", "engine_over_peak",
                "samples_per_second", "bytes_per_sample", "bytes_over_i64_ids_and_labels");
    }

    private void steps(List<Map<String, Object>> rows) {
        out.append("## Training steps\n\nA step takes a batch, computes, and waits for the end; beside it the same"
                + " computing on a batch that is on\nthe device already.\n\n");
        table(rows, "bytes", "compute", "steps", "synthetic_step_ms", "engine_step_ms", "engine_over_synthetic",
                "next_p50_micros");
    }

    private void jitter(List<Map<String, Object>> rows) {
        out.append("## The launching thread\n\nA thread of the same process has a tick every 100 µs, spins until it is"
                + " due, and records an event. Late: from\nwhen it was due to when its turn came. Call: recording"
                + " the event. A loader that rests has filled its slots; a\nsaturated one gives batches as fast as they"
                + " are made.\n\n");
        table(rows, "loader", "workers", "ticks", "late_p50_micros", "late_p99_micros", "late_max_micros",
                "call_p50_micros", "call_p99_micros", "call_max_micros", "batches_per_second");
    }

    private void stages(List<Map<String, Object>> rows) {
        out.append("## Augmentation on the device\n\nBatches of u8 [256, 256, 3] in device memory become bf16 [3, 224,"
                + " 224].\n\n");
        table(rows, "stage", "batch", "micros", "over_images", "bound");
    }

    private void jpegs(List<Map<String, Object>> rows) {
        out.append("## JPEG files\n\nFiles of about 43 KB, 500 x 375, to bf16 [3, 224, 224] on the device: a random"
                + " crop, resized, flipped, normalized.\n\n");
        table(of(rows, "jpeg"), "decoded_by", "decoder", "workers", "batch", "images_per_second", "over_workers");
        for (Map<String, Object> why : of(rows, "jpeg-missing")) {
            out.append("Not compared: ").append(why.get("message")).append("\n\n");
        }
    }

    private void clocks(List<Map<String, Object>> clock, List<Map<String, Object>> loaders) {
        out.append("## The device's clock\n\nThe trainer's thread takes and closes a batch that is there, without the"
                + " clock and with it; what the clock\nsays of the copies, and which of them the stream did not wait"
                + " for.\n\n");
        table(clock, "bytes", "take_and_close_micros", "with_clock_micros", "added_micros", "mark_micros", "clock",
                "copy_p50_micros", "copy_gb_per_second", "overlap");
        out.append("## Several loaders on one device\n\n");
        table(loaders, "loaders", "bytes", "gb_per_second", "over_one");
    }

    private void peers(List<Map<String, Object>> throughput, List<Map<String, Object>> torch) throws IOException {
        out.append("## Beside PyTorch\n\nThe same store, batches of 32 windows on the device, samples/s. With a step,"
                + " over synthetic\nis its time over that of the same step without a loader.\n\n");
        List<Map<String, Object>> rows = new ArrayList<>(throughput);
        rows.addAll(torch);
        table(rows, "side", "config", "mode", "workers", "step_ms", "round", "samples_per_second", "next_p50_ms",
                "next_p99_ms", "over_synthetic");
        if (torch.isEmpty()) {
            String reason = String.join(" ", linesOf("torch.txt")).strip();
            out.append("PyTorch did not run: ").append(reason.isEmpty() ? "see the smoke above and `run.log`" : reason)
                    .append("\n\n");
        }
    }

    private void table(List<Map<String, Object>> rows, String... columns) {
        row(columns.length, i -> columns[i].replace('_', ' '));
        row(columns.length, i -> "---");
        for (Map<String, Object> cells : rows) {
            row(columns.length, i -> switch (cells.get(columns[i])) {
                case null -> "";
                case Number n when columns[i].equals("bytes") -> binary(n.longValue());
                case Number n -> text(n.doubleValue());
                case Object other -> other.toString();
            });
        }
        out.append('\n');
    }

    private void row(int columns, Function<Integer, String> cell) {
        out.append('|');
        for (int i = 0; i < columns; i++) {
            out.append(' ').append(cell.apply(i)).append(" |");
        }
        out.append('\n');
    }

    /** 65536 as 64 KiB; what is no whole number of KiB with decimals. */
    private static String binary(long bytes) {
        return bytes < 1 << 20 ? text(bytes / 1024.0) + " KiB" : text(bytes / 1048576.0) + " MiB";
    }

    private static String text(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15 ? Long.toString((long) value)
                : String.format(Locale.ROOT, Math.abs(value) < 100 ? "%.4g" : "%.1f", value);
    }

    private static double number(Map<String, Object> row, String key) {
        return row.get(key) instanceof Number n ? n.doubleValue() : Double.NaN;
    }

    private static double least(List<Map<String, Object>> rows, String key) {
        return rows.stream().mapToDouble(row -> number(row, key)).min().orElse(Double.NaN);
    }

    private static double greatest(List<Map<String, Object>> rows, String key) {
        return rows.stream().mapToDouble(row -> number(row, key)).max().orElse(Double.NaN);
    }

    private static List<Map<String, Object>> of(List<Map<String, Object>> lines, String kind) {
        return lines.stream().filter(line -> kind.equals(line.get("kind"))).toList();
    }

    /** The JSON lines of a file, among whatever else is in it; none if it is not there. */
    private List<Map<String, Object>> lines(String name) throws IOException {
        List<Map<String, Object>> lines = new ArrayList<>();
        for (String line : linesOf(name)) {
            if (line.startsWith("{") && line.endsWith("}")) {
                lines.add(Json.object(Json.parse(line)));
            }
        }
        return lines;
    }
}
