// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.TokenWindows;
import io.penstock.json.Json;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LoaderMemory;
import io.penstock.state.LoaderState;
import io.penstock.store.Fixtures;
import io.penstock.store.TokenStore;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.LoaderReport.PartTime;
import io.penstock.testing.Corpora;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StreamCommandTest {

    private static final int WINDOW = 64;

    @TempDir
    Path folder;

    private Path store;

    @BeforeEach
    void writeStore() throws IOException {
        store = Corpora.rawU16(folder, 64 * 160 + 1, 11);
    }

    @ParameterizedTest
    @CsvSource({"1, auto, in-place", "0, in-place, in-place", "2, copy, copy", "0, copy, copy"})
    void figuresAgreeWithEachOther(int workers, String transfer, String used) {
        Map<String, Object> result = stream("--batch", 8, "--steps", 200, "--warmup", 30, "--device", "host",
                "--workers", workers, "--transfer", transfer);
        assertEquals(200L, result.get("steps"));
        assertEquals(200L * 8, result.get("samples"));
        assertEquals(200L * 8 * WINDOW, result.get("tokens"));
        assertEquals(200L * Math.ceilDiv(8 * (WINDOW + 1) * 2, 256) * 256, roundedUp(result.get("bytes"), 200));
        assertEquals(160L, result.get("samples_in_epoch"));
        assertEquals(20L, result.get("batches_in_epoch"));
        assertEquals("host", result.get("device"));
        assertEquals(used, result.get("transfer"));
        assertEquals(11L, result.get("end_epoch"));
        assertEquals(80L, result.get("end_position"));
        assertEquals(false, result.get("interrupted"));

        double seconds = number(result, "seconds");
        assertTrue(seconds > 0);
        assertEquals(200 * 8 * WINDOW / seconds, number(result, "tokens_per_second"), 1e-6 / seconds);
        assertEquals(200 * 8 / seconds, number(result, "samples_per_second"), 1e-6 / seconds);
        assertEquals(number(result, "bytes") / seconds / 1e9, number(result, "gigabytes_per_second"), 1e-9 / seconds);
        Map<String, Object> step = Json.object(result.get("step_ms"));
        Map<String, Object> wait = Json.object(result.get("wait_ms"));
        for (Map<String, Object> times : List.of(step, wait)) {
            assertTrue(0 <= number(times, "p50") && number(times, "p50") <= number(times, "p99")
                    && number(times, "p99") <= number(times, "max"), times::toString);
        }
        assertTrue(number(wait, "mean") <= number(step, "mean"));
        assertTrue(200 * number(step, "mean") <= seconds * 1e3);

        Map<String, Object> shares = Json.object(result.get("shares"));
        assertEquals(used.equals("copy"), shares.containsKey("copy_submitting"));
        shares.forEach((name, share) -> assertTrue((Double) share >= 0 && (Double) share <= 1, () -> name + share));
        assertTrue(number(shares, "workers_planning") + number(shares, "workers_collating")
                + number(shares, "workers_waiting_for_slot") <= 1 + 1e-9, shares::toString);
        assertEquals(200 * number(wait, "mean") / 1e3 / seconds, number(shares, "trainer_waiting"), 1e-6);
    }

    private static long roundedUp(Object bytes, long batches) {
        return Math.ceilDiv((Long) bytes / batches, 256L) * 256 * batches;
    }

    @Test
    void oneEpochIsTheDefault() {
        assertEquals(5L, stream("--batch", 32).get("steps"));
        Map<String, Object> rest = stream("--batch", 32, "--epoch", 2, "--skip", 3);
        assertEquals(2L, rest.get("steps"));
        assertEquals(3L, rest.get("end_epoch"));
    }

    @Test
    void aStepTakesAsLongAsItIsTold() {
        Map<String, Object> result = stream("--batch", 8, "--steps", 20, "--warmup", 2, "--step-ms", 20);
        assertTrue(number(Json.object(result.get("step_ms")), "p50") >= 20);
        double waiting = number(Json.object(result.get("shares")), "trainer_waiting");
        assertEquals(waiting < 0.05 ? "trainer" : "input", result.get("bottleneck"), result::toString);
    }

    @Test
    void aTrainerThatIsSlowerThanTheLoaderIsTheBottleneck() {
        Map<String, Object> trainer = measured(20_000_000, 500_000).fields();
        assertEquals("trainer", trainer.get("bottleneck"));
        assertTrue(((String) trainer.get("interpretation")).startsWith("The trainer is the bottleneck: it waited "));
        Map<String, Object> input = measured(20_000_000, 5_000_000).fields();
        assertEquals("input", input.get("bottleneck"));
        assertTrue(((String) input.get("interpretation")).startsWith("Input-bound: the trainer waited "));
    }

    /** Twenty steps and waits of so many nanoseconds; the worker stood without a slot for nine tenths. */
    private static StreamReport measured(long stepNanos, long waitNanos) {
        return measured(stepNanos, waitNanos, 2 * stepNanos, List.of());
    }

    private static StreamReport measured(long stepNanos, long waitNanos, long collateNanos, List<PartTime> parts) {
        var steps = new DurationHistogram();
        var waits = new DurationHistogram();
        for (int i = 0; i < 20; i++) {
            steps.record(stepNanos);
            waits.record(waitNanos);
        }
        var loader = new LoaderReport(20, 160, 1, 0, collateNanos, 20 * stepNanos - collateNanos, 0, 0, 0,
                20 * waitNanos, 0, 0, parts, LoaderReport.Downloads.NONE);
        var end = new LoaderState(1, 0, 0, "", "");
        var run = new StreamRun.Measured(20, 160, 1, 20 * stepNanos, 1, steps, waits, loader, end, false);
        return new StreamReport(run, WINDOW, 1, new LoaderMemory(4, 0, 1, 4, 0), stepNanos, null);
    }

    @Test
    void decodingByTheJdkIsNamedAndKeepsItsKey() {
        StreamReport report = measured(10_000_000, 9_000_000, 190_000_000,
                List.of(new PartTime(PartTime.DECODE, 16_000_000), new PartTime(PartTime.DECODE_BY_JDK, 160_000_000)));
        assertTrue(report.text().contains("samples  decode 0.100 ms, decode (JPEG by the JDK) 1.000 ms\n"),
                report.text());
        assertTrue(report.interpretation().contains("1.000 ms a sample; try libjpeg-turbo, more --workers"),
                report.interpretation());
        assertEquals(Map.of("decode", 1.1), report.fields().get("sample_ms"));
    }

    /** Two lines about waiting are of different threads. */
    @Test
    void theTimesOfTrainerAndWorkersAreToldApart() {
        String text = measured(10_000_000, 9_000_000).text();
        assertTrue(text.contains("in all 90.0 % of the trainer's time"), text);
        assertTrue(text.contains("  1: of their time plan 0.0 %, collate 10.0 %, idle until a slot is free 90.0 %"),
                text);
    }

    @Test
    void withoutAStepTheInputIsWhatIsMeasured() {
        Map<String, Object> result = stream("--batch", 8, "--steps", 20);
        assertEquals("input", result.get("bottleneck"));
        assertTrue(((String) result.get("interpretation")).startsWith("The trainer took batches as fast as they came"),
                result.toString());
        assertTrue(((String) result.get("interpretation")).contains("this is the input alone, so it always waits."),
                result.toString());
    }

    @Test
    void textNamesStoreDeviceMemoryAndTimes() {
        CommandRun run = CommandRun.of("stream", store, "--window", WINDOW, "--steps", 10, "--device", "host",
                "--transfer", "copy");
        assertEquals(0, run.exitCode(), run.err());
        for (String part : List.of("(nanogpt): 160 windows of 64+1 tokens, shuffled with seed 42\n",
                "5 batches per epoch", "device   host (as requested)\n", "host slots of ", "steps    10 steps in ",
                "tokens/s", "GB/s",
                "step     p50 ", "wait     p50 ", "workers  ", "copy     submitting ", "no --step-ms")) {
            assertTrue(run.out().contains(part), () -> part + " is not in:\n" + run.out());
        }
        assertEquals("", run.err());
    }

    @Test
    void rowsOfTensorsAreStreamedToo() {
        CommandRun run = CommandRun.of("stream", Fixtures.path("npy/open_memmap_f4.npy"), "--batch", 2, "--json");
        assertEquals(0, run.exitCode(), run.err());
        assertFalse(run.json().containsKey("tokens"));
        assertEquals("npy", run.json().get("kind"));
    }

    @Test
    void aStateContinuesWithExactlyTheNextBatch() throws IOException {
        Path state = folder.resolve("state.json");
        Object[] first = {"--batch", 8, "--steps", 13, "--warmup", 4, "--epoch", 1, "--state", state};
        assertEquals(17L * 8, stream(first).get("end_position"));
        assertEquals(17 * 8, LoaderState.read(state).position());

        Map<String, Object> second = stream("--batch", 4, "--steps", 7, "--epoch", 1, "--state", state, "--workers", 2);
        assertEquals(1L, second.get("start_epoch"));
        assertEquals(17L * 8, second.get("start_position"));
        assertEquals(new LoaderState(2, 4, 42, LoaderState.read(state).sampler(), LoaderState.read(state).dataset()),
                LoaderState.read(state));
        assertEquals(39L, stream("--batch", 4, "--state", state).get("steps"), "the rest of the epoch");
        assertEquals(3, LoaderState.read(state).epoch());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "no state", "{\"penstock_state\":2}"})
    void aFileThatIsNoStateIsBadInputAndKept(String text) throws IOException {
        Path state = Files.writeString(folder.resolve("state.json"), text);
        CommandRun run = CommandRun.of("stream", store, "--window", WINDOW, "--state", state);
        assertEquals(3, run.exitCode(), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        assertEquals(text, Files.readString(state));
    }

    @Test
    void aStateAtAPlaceThatTheOrderLacksIsRefusedInWords() throws IOException {
        Path state = folder.resolve("state.json");
        stream("--steps", 1, "--state", state);
        LoaderState good = LoaderState.read(state);
        for (LoaderState wrong : List.of(
                new LoaderState(0, (1L << 62) - 1, good.seed(), good.sampler(), good.dataset()),
                new LoaderState(1L << 62, 0, good.seed(), good.sampler(), good.dataset()))) {
            wrong.write(state);
            CommandRun run = CommandRun.of("stream", store, "--window", WINDOW, "--state", state);
            assertEquals(ExitCode.BAD_INPUT, run.exitCode(), run.err());
            assertTrue(run.err().matches("penstock: the state belongs to another run: (position|epoch): the state has "
                    + "461168601842738790[34], this run has (position|epoch)s 0 to \\d+\n"), run.err());
        }
        byte[] bytes = (good.toJson() + "\n").getBytes(UTF_8);
        int at = good.toJson().indexOf("feistel");
        bytes[at] = (byte) 0xFF;
        Files.write(state, bytes);
        CommandRun run = CommandRun.of("stream", store, "--window", WINDOW, "--state", state);
        assertEquals(ExitCode.BAD_INPUT, run.exitCode());
        assertEquals("penstock: " + state + ": not a loader state: at offset " + at
                + ": found byte 0xFF, expected well-formed UTF-8\n", run.err());
    }

    @Test
    void aStateOfAnotherOrderIsRefused() {
        Path state = folder.resolve("state.json");
        stream("--steps", 1, "--seed", 1, "--state", state);
        CommandRun run = CommandRun.of("stream", store, "--window", WINDOW, "--seed", 2, "--state", state);
        assertEquals(3, run.exitCode(), run.err());
        assertTrue(run.err().contains("seed: the state has '1', this run has '2'"), run.err());
    }

    @ParameterizedTest
    @CsvSource({"2, --window 64 --steps 0", "2, --window 64 --step-ms -1", "2, --window 64 --step-ms x",
        "2, --window 64 --warmup -1", "2, --window 64 --transfer both", "2, --window 64 --device tpu", "2, --steps 3",
        "2, --window 64 --state no/such/folder/state.json", "2, --window 64 --step-ms NaN"})
    void wrongUsageEndsWithTwo(int exitCode, String options) {
        Object[] args = ("stream " + store + " " + options).split(" ");
        CommandRun run = CommandRun.of(args);
        assertEquals(exitCode, run.exitCode(), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        assertEquals("", run.out());
    }

    @Test
    void aBadStoreEndsWithThree() {
        for (Object path : List.of("no-such-store", Fixtures.path("megatron/reject_truncated_idx.idx"),
                Fixtures.path("npy/reject_truncated_data.npy"))) {
            CommandRun run = CommandRun.of("stream", path, "--window", WINDOW);
            CommandRun npy = CommandRun.of("stream", path);
            assertTrue(run.exitCode() == 3 || npy.exitCode() == 3, run.err() + npy.err());
        }
    }

    @Tag("slow")
    @Test
    @Timeout(1200)
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void ctrlCPrintsTheReportSoFarAndSavesTheState() throws Exception {
        Path state = folder.resolve("state.json");
        CommandRun run = CommandRun.interrupted(out -> !out.isEmpty()
                && (Long) Json.object(Json.parse(out)).get("steps") > 0, "stream", store, "--window", WINDOW, "--batch",
                8, "--steps", 1_000_000_000, "--step-ms", 1, "--state", state, "--json");
        assertEquals(130, run.exitCode());
        assertEquals("", run.err());
        Map<String, Object> result = run.json();
        assertEquals(true, result.get("interrupted"));
        long steps = (Long) result.get("steps");
        assertEquals(steps * 8 * WINDOW, result.get("tokens"));
        LoaderState saved = LoaderState.read(state);
        assertEquals(steps * 8, saved.epoch() * 160 + saved.position());
    }

    @Test
    void anInterruptBeforeAnythingIsMeasuredIsReportedToo() throws Exception {
        try (TokenStore tokens = TokenStore.open(store);
                DataLoader loader = DataLoader.builder(TokenWindows.of(tokens, WINDOW)).batchSize(8).open()) {
            StreamRun run = new StreamRun(loader, System.nanoTime(), 0, ProgressBar.hidden());
            Thread.currentThread().interrupt();
            StreamRun.Measured measured = run.run(3, 100);
            assertFalse(Thread.interrupted(), "the interrupt was taken");
            assertTrue(measured.interrupted());
            StreamReport report = new StreamReport(measured, WINDOW, 1, loader.memory(), 0, null);
            assertEquals(0L, report.fields().get("steps"));
            assertEquals(0.0, report.fields().get("tokens_per_second"));
            assertNull(report.bottleneck());
            assertTrue(report.text().endsWith("Nothing was measured.\n"), report.text());
        }
    }

    @Test
    void quantilesOfDurationsAreWithinABucketOfTheExactOnes() {
        DurationHistogram histogram = new DurationHistogram();
        long[] durations = new SplittableRandom(5).longs(20_000).map(bits -> bits >>> 20 + (bits & 31))
                .toArray();
        for (long duration : durations) {
            histogram.record(duration);
        }
        Arrays.sort(durations);
        for (double share : new double[] {0.001, 0.1, 0.5, 0.9, 0.99, 0.9999, 1}) {
            long exact = durations[(int) Math.ceil(share * durations.length) - 1];
            long found = histogram.quantileNanos(share);
            assertTrue(exact <= found && found - exact <= exact / 128, share + ": " + found + ", exact " + exact);
        }
        assertEquals(durations[durations.length - 1], histogram.quantileNanos(1));
        histogram.record(Long.MAX_VALUE);
        assertEquals(Long.MAX_VALUE, histogram.maxNanos());
        assertEquals(0, new DurationHistogram().quantileNanos(0.5));
    }

    private Map<String, Object> stream(Object... options) {
        Object[] args = new Object[options.length + 5];
        System.arraycopy(new Object[] {"stream", store, "--window", WINDOW, "--json"}, 0, args, 0, 5);
        System.arraycopy(options, 0, args, 5, options.length);
        CommandRun run = CommandRun.of(args);
        assertEquals(0, run.exitCode(), run.err());
        assertEquals("", run.err());
        return run.json();
    }

    private static double number(Map<String, Object> fields, String name) {
        return ((Number) fields.get(name)).doubleValue();
    }

    @Test
    void aReportThatCannotBeWrittenCostsNeitherTheFiguresNorTheState() throws IOException {
        Path taken = folder.resolve("run");
        Files.createDirectories(taken.resolve("final_summary.json"));
        Path state = folder.resolve("state.json");
        CommandRun run = CommandRun.of("stream", store, "--window", WINDOW, "--batch", 8, "--steps", 20, "--device",
                "host", "--report", taken, "--state", state);
        assertEquals(ExitCode.FAILURE, run.exitCode(), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        assertTrue(run.out().contains("tokens/s") && run.out().contains("steps    20 steps"), run.out());
        assertFalse(run.out().contains("Report written"), run.out());
        assertEquals(1, LoaderState.read(state).epoch());

        CommandRun json = CommandRun.of("stream", store, "--window", WINDOW, "--batch", 8, "--steps", 20, "--device",
                "host", "--report", taken, "--json");
        assertEquals(ExitCode.FAILURE, json.exitCode(), json.err());
        assertEquals(20L, json.json().get("steps"));
    }

    /** A report that cannot be written is refused before the steps, not when they are done. */
    @Test
    void anOutputThatCannotBeWrittenIsNamedBeforeTheRun() throws IOException {
        Path file = Files.writeString(folder.resolve("settings.json"), "{}");
        for (List<Object> output : List.<List<Object>>of(List.of("--report", file),
                List.of("--report", file.resolve("run")))) {
            assertRefused(output, output.getFirst() + ": " + file + " is a file, expected a folder");
        }
        Path other = Files.createDirectories(folder.resolve("a-folder"));
        for (String option : List.of("--trace", "--state", "--baseline")) {
            assertRefused(List.of(option, other), option + ": " + other + " is a folder, expected a file");
        }
        assertEquals("{}", Files.readString(file));
    }

    private void assertRefused(List<Object> output, String why) {
        CommandRun run = CommandRun.of("stream", store, "--window", WINDOW, "--steps", 20, "--device", "host",
                output.get(0), output.get(1));
        assertEquals(ExitCode.WRONG_USAGE, run.exitCode(), run.out());
        assertEquals("", run.out());
        assertTrue(run.err().contains(why), run.err());
    }

    @Test
    void textIsSentToTokenizeAndWhatHasNoFormatToTheOptionThatNamesOne() throws IOException {
        Path text = Files.createDirectories(folder.resolve("text"));
        Files.writeString(text.resolve("a.md"), "A story – of one line.\n".repeat(1000));
        for (Path given : List.of(text, text.resolve("a.md"))) {
            CommandRun run = CommandRun.of("stream", given, "--window", WINDOW);
            assertEquals(given == text ? ExitCode.WRONG_USAGE : ExitCode.BAD_INPUT, run.exitCode(), run.err());
            assertTrue(run.err().contains("penstock tokenize " + given + " -o STORE"), run.err());
        }
        Path bytes = Files.write(folder.resolve("a.what"), new byte[] {0, 1, 2, 3, 0, (byte) 0xFF});
        Path empty = Files.createDirectories(folder.resolve("empty"));
        for (Path given : List.of(bytes, empty)) {
            CommandRun run = CommandRun.of("stream", given, "--window", WINDOW);
            assertEquals(ExitCode.BAD_INPUT, run.exitCode(), run.err());
            assertTrue(run.err().contains("--format") && !run.err().contains("tokenize"), run.err());
        }
    }

    @Test
    void aLoneImageIsOneSampleAndNotItsLinesOfPixels() throws IOException {
        Path image = folder.resolve("a.png");
        ImageIO.write(new BufferedImage(32, 24, BufferedImage.TYPE_INT_RGB), "png", image.toFile());
        CommandRun run = CommandRun.of("stream", image, "--batch", 4);
        assertEquals(ExitCode.BAD_INPUT, run.exitCode(), run.err());
        assertTrue(run.err().contains("found one image, which is one sample, expected a store of images"), run.err());
    }
}
