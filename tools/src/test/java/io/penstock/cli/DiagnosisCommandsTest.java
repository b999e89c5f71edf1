// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.diagnose.Summary;
import io.penstock.diagnose.SummaryExamples;
import io.penstock.json.Json;
import io.penstock.json.RecordJson;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code stream --report}, {@code report} and {@code compare}, one behind the other. */
@Timeout(1200)
class DiagnosisCommandsTest {

    @TempDir
    Path folder;

    private Path store;

    @BeforeEach
    void writeStore() throws IOException {
        store = Corpora.rawU16(folder, 64 * 4000 + 1, 11);
    }

    private CommandRun stream(Path report, Object... more) {
        Object[] args = {"stream", store, "--window", 64, "--batch", 8, "--device", "host", "--steps", 300,
            "--report", report};
        Object[] all = Arrays.copyOf(args, args.length + more.length);
        System.arraycopy(more, 0, all, args.length, more.length);
        return CommandRun.of(all);
    }

    @Test
    void aRunReportsItselfAndReportReadsItBack() throws IOException {
        Path run = folder.resolve("run");
        Path trace = folder.resolve("trace.json");
        CommandRun streamed = stream(run, "--step-ms", 1, "--synthetic", "--run-name", "here", "--trace", trace,
                "--trace-steps", "100,10,20");
        assertEquals(0, streamed.exitCode(), streamed.err());
        assertTrue(streamed.out().lines().anyMatch(line -> line.startsWith("input ")), streamed.out());
        for (String file : new String[] {Summary.JSON_FILE, Summary.TEXT_FILE, DiagnosisOptions.HTML_FILE}) {
            assertTrue(Files.size(run.resolve(file)) > 500, file);
        }
        Summary summary = Summary.read(run);
        assertEquals("here", summary.run());
        Summary.Headroom headroom = summary.input().headroom();
        assertTrue(headroom.syntheticSamplesPerSecond() > 0, headroom.toString());
        assertEquals(headroom.measuredSamplesPerSecond() / headroom.syntheticSamplesPerSecond(), headroom.ratio(),
                1e-9);
        assertEquals(300, summary.input().stepMillis().count() + 1, 2);

        long shown = Json.array(Json.object(Json.parse(Files.readString(trace))).get("traceEvents")).stream()
                .filter(event -> String.valueOf(Json.object(event).get("name")).startsWith("ProfilerStep#")).count();
        assertEquals(20, shown);

        CommandRun text = CommandRun.of("report", run, "--html", folder.resolve("page.html"));
        assertEquals(0, text.exitCode(), text.err());
        assertTrue(text.out().contains("Real over synthetic") && text.out().contains("Verdict"), text.out());
        assertEquals(Files.readString(run.resolve(DiagnosisOptions.HTML_FILE)),
                Files.readString(folder.resolve("page.html")));
        assertEquals(1.7, CommandRun.of("report", run, "--json").json().get("schema_version"));
    }

    @Test
    void theDevicesClockIsReportedAndJudgedBy() throws IOException {
        Path run = folder.resolve("run");
        Map<String, Object> streamed = stream(run, "--step-ms", 1, "--transfer", "copy", "--device-clock", "--json")
                .json();
        Map<String, Object> clock = Json.object(streamed.get("device_clock"));
        assertEquals(List.of("copy_ms", "stage_ms", "exposed_ms", "compute_ms", "overlap"),
                List.copyOf(clock.keySet()));
        Summary summary = Summary.read(run);
        assertEquals("gpu", summary.clock());
        assertEquals(RecordJson.members(summary.input().onDevice()).keySet(), clock.keySet());
        assertTrue(Json.object(clock.get("copy_ms")).get("count") instanceof Long of && of > 100, clock.toString());

        CommandRun text = stream(folder.resolve("text"), "--step-ms", 1, "--transfer", "copy", "--device-clock");
        assertTrue(text.out().lines().anyMatch(line -> line.startsWith("clock    copy p50 ")), text.out());
    }

    @Test
    void batchesThatAreUsedInPlaceHaveNoDevicesClock() {
        CommandRun refused = stream(folder.resolve("run"), "--transfer", "in-place", "--device-clock");
        assertEquals(2, refused.exitCode());
        assertTrue(refused.err().startsWith("penstock: --device-clock: found batches that are used in place, expected"
                + " --transfer copy or a CUDA device"), refused.err());
        assertFalse(Files.exists(folder.resolve("run")));
    }

    @Test
    void aSlowerRunIsARegressionThatFailsOnlyWhereItIsToldTo() throws IOException {
        Path fast = Files.createDirectory(folder.resolve("fast"));
        Path slow = Files.createDirectory(folder.resolve("slow"));
        SummaryExamples.run(1, 300, 1, 0.05, SummaryExamples.FINGERPRINT).write(fast);
        SummaryExamples.run(2, 300, 3, 0.05, SummaryExamples.FINGERPRINT).write(slow);
        CommandRun compared = CommandRun.of("compare", fast, slow, "--json");
        assertEquals(0, compared.exitCode(), compared.err());
        Map<String, Object> result = compared.json();
        assertEquals("regression", result.get("outcome"), compared.out());
        assertTrue((Double) result.get("step_change_low") > 0.5, compared.out());
        CommandRun gate = CommandRun.of("compare", fast, slow, "--fail-on", "regression,inconclusive");
        assertEquals(ExitCode.REGRESSION, gate.exitCode());
        assertTrue(gate.out().startsWith("REGRESSION: the step changed by +"), gate.out());
        assertTrue(gate.out().contains("mostly   compute"), gate.out());
        assertEquals(0, CommandRun.of("compare", slow, fast, "--fail-on", "regression").exitCode());
    }

    @Test
    void theLastOfSeveralRunsIsComparedWithTheOthers() throws IOException {
        Object[] command = {"compare", null, null, null, null, "--fail-on", "regression"};
        for (int run = 0; run < 4; run++) {
            Path at = Files.createDirectory(folder.resolve("run-" + run));
            SummaryExamples.run(run, 300, run == 3 ? 2 : 1, 0.05, SummaryExamples.FINGERPRINT).write(at);
            command[1 + run] = at;
        }
        CommandRun compared = CommandRun.of(command);
        assertEquals(ExitCode.REGRESSION, compared.exitCode(), compared.err());
        assertTrue(compared.out().startsWith("REGRESSION: a step takes "), compared.out());
        assertTrue(compared.out().contains("in 3 earlier runs") && compared.out().contains("compute"), compared.out());
        command[6] = "mixed";
        Object[] asJson = Arrays.copyOf(command, 8);
        asJson[7] = "--json";
        Map<String, Object> result = CommandRun.of(asJson).json();
        assertEquals("regression", result.get("outcome"));
        assertEquals(4, ((List<?>) result.get("runs")).size());
    }

    @Test
    void aRunIsComparedWithItsPastWhichItJoins() throws IOException {
        Path past = folder.resolve("past.json");
        CommandRun first = stream(folder.resolve("first"), "--step-ms", 1, "--baseline", past);
        assertEquals(0, first.exitCode(), first.err());
        assertTrue(first.out().contains("past     no earlier run"), first.out());
        CommandRun second = stream(folder.resolve("second"), "--step-ms", 1, "--baseline", past);
        assertTrue(second.out().contains("in 1 earlier run (noise"), second.out());
        assertTrue(Files.readString(past).contains("\"batch_size\": \"8\""), Files.readString(past));
        Files.writeString(past, "no JSON");
        CommandRun third = stream(folder.resolve("third"), "--step-ms", 1, "--baseline", past);
        assertEquals(ExitCode.BAD_INPUT, third.exitCode(), third.err());
    }

    @Test
    void runsOnOtherBatchesDoNotCompare() {
        Path run = folder.resolve("run");
        Path other = folder.resolve("other");
        stream(run, "--step-ms", 1);
        CommandRun.of("stream", store, "--window", 64, "--batch", 16, "--device", "host", "--steps", 200, "--step-ms",
                1, "--report", other);
        CommandRun compared = CommandRun.of("compare", run, other, "--fail-on", "inconclusive");
        assertEquals(ExitCode.INCONCLUSIVE, compared.exitCode());
        assertTrue(compared.out().contains("batch size 8 → 16"), compared.out());
    }

    @Test
    void whatIsNoSummaryIsBadInputAndWhatIsNoOptionWrongUsage() throws IOException {
        Path text = Files.writeString(folder.resolve("final_summary.json"), "{\"schema_version\": 1.7}");
        CommandRun refused = CommandRun.of("report", text);
        assertEquals(3, refused.exitCode());
        assertEquals(1, refused.err().lines().count(), refused.err());
        assertEquals(3, CommandRun.of("report", folder.resolve("missing")).exitCode());
        assertEquals(2, CommandRun.of("compare", text, text, "--fail-on", "rain").exitCode());
        assertEquals(2, stream(folder.resolve("run"), "--trace-steps", "1,2").exitCode());
        assertEquals(2, stream(folder.resolve("run"), "--trace", folder.resolve("nowhere/trace.json")).exitCode());
        assertFalse(Files.exists(folder.resolve("run")));
    }
}
