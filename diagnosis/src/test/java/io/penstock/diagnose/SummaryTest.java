// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SummaryTest {

    private static Summary copying() {
        var scenario = new Scenario();
        scenario.deviceSlots = 3;
        scenario.batches = 1_200;
        scenario.decode = i -> i % 10 == 0 ? 18_000 : 6_000;
        scenario.batchesPerEpoch = 300;
        return Diagnoses.summary(scenario.play());
    }

    private static Summary rank(int rank, int decodeMicros, long forward, long backward) {
        var scenario = new Scenario();
        scenario.rank = rank;
        scenario.worldSize = 4;
        scenario.decode = _ -> decodeMicros;
        scenario.marks = new Recording.PhaseMarks(1, forward * 1_000, backward * 1_000, 0);
        return Diagnoses.summary(scenario.play());
    }

    @Test
    void whatIsWrittenIsReadBack(@TempDir Path folder) throws IOException {
        Summary summary = copying();
        summary.write(folder);
        Summary read = Summary.read(folder);
        assertEquals(Json.write(SummaryFile.json(summary)), Json.write(SummaryFile.json(read)));
        assertEquals(summary.text(), read.text());
        assertEquals(summary.ranks(), read.ranks());
        assertEquals(summary.input().causes(), read.input().causes());
        assertEquals(summary.text() + "\n", Files.readString(folder.resolve(Summary.TEXT_FILE)));
        assertEquals(2, Files.list(folder).count(), "no temporary file stays");
    }

    @Test
    void aFileThatIsNoSummaryIsNamed(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("other.json");
        Files.writeString(file, "{\"schema_version\": 1.7}");
        String message = assertThrows(MalformedStoreException.class, () -> Summary.read(file)).getMessage();
        assertTrue(message.contains("other.json"), message);
        Files.writeString(file, "{\"input_pipeline\": {\"clock\": 3}, \"fingerprint\": {\"cores\": \"many\"}}");
        assertTrue(assertThrows(MalformedStoreException.class, () -> Summary.read(file)).getMessage()
                .contains("fingerprint.cores: found many"));
    }

    /** What TraceML's view and compare look at, and its own writer's checks of its sections. */
    @Test
    void theFileHasTheSectionsOfSchema17() {
        Map<?, ?> json = (Map<?, ?>) Json.parse(Json.write(SummaryFile.json(copying())));
        assertEquals(1.7, json.get("schema_version"));
        for (String name : List.of("generated_at", "duration_s", "meta", "primary_diagnosis", "system", "process",
                "step_time", "step_memory", "text")) {
            assertTrue(json.containsKey(name), name);
        }
        for (String name : List.of("system", "process", "step_time", "step_memory")) {
            Map<?, ?> section = (Map<?, ?>) json.get(name);
            assertTrue(section.keySet().containsAll(Set.of("metadata", "diagnosis", "issues", "global", "groups",
                    "units", "card")), name + " has " + section.keySet());
            List<?> issues = (List<?>) section.get("issues");
            assertEquals(section.get("diagnosis"), issues.getFirst(), name);
            for (Object issue : issues) {
                assertEquals(Set.of("kind", "status", "severity", "summary", "action", "metric", "phase", "score",
                        "share_pct", "skew_pct", "ranks", "evidence"), ((Map<?, ?>) issue).keySet(), name);
            }
            checkMetrics(name, section);
        }
        Map<?, ?> worst = (Map<?, ?>) at(json, "step_memory", "global", "worst", "peak_reserved_bytes");
        assertTrue(((Number) worst.get("value")).doubleValue() > 0);
        assertEquals("cpu", at(json, "step_time", "global", "window", "diagnosis_clock"));
        assertEquals(null, at(json, "step_time", "global", "average", "step_time_gpu_ms"), "not measured is null");
        assertTrue(at(json, "step_time", "global", "average", "h2d_ms") instanceof Double);
    }

    private static void checkMetrics(String name, Map<?, ?> section) {
        Set<?> names = Set.copyOf((List<?>) at(section, "metadata", "section_metric_names"));
        for (String block : List.of("average", "median", "worst")) {
            assertEquals(names, ((Map<?, ?>) at(section, "global", block)).keySet(), name + "." + block);
        }
        assertEquals(at(section, "global", "index_by"), at(section, "groups", "by"), name);
        for (Object row : ((Map<?, ?>) at(section, "groups", "rows")).values()) {
            assertEquals(Set.of("identity", "metrics"), ((Map<?, ?>) row).keySet(), name);
            assertEquals(names, ((Map<?, ?>) at((Map<?, ?>) row, "metrics")).keySet(), name);
        }
    }

    private static Object at(Map<?, ?> json, String... path) {
        Object value = json;
        for (String key : path) {
            value = ((Map<?, ?>) value).get(key);
        }
        return value;
    }

    @Test
    void causesAddUpToTheWaits() {
        Summary.InputPipeline input = copying().input();
        double causes = input.causes().stream().mapToDouble(Summary.CauseRow::millis).sum();
        double waits = input.waitMillis().mean() * input.waitMillis().count();
        assertEquals(waits, causes, 0.01 * waits);
        assertEquals(1, input.causes().stream().mapToDouble(Summary.CauseRow::share).sum(), 1e-9);
    }

    @Test
    void theSeriesIsBoundedAndWhole() {
        List<Summary.StepPoint> series = copying().input().series();
        assertTrue(series.size() <= Summarizer.SERIES_POINTS, series.size() + " points");
        assertEquals(1_200, series.stream().mapToInt(Summary.StepPoint::steps).sum());
    }

    @Test
    void theTextKeepsToItsBox() {
        String text = copying().text();
        for (String line : text.split("\n")) {
            assertEquals(78, line.length(), line);
        }
        assertTrue(text.contains("Verdict: INPUT-BOUND / "), text);
    }

    /** Of steps below 20 µs: of each 512, 32 have accounts. */
    @Test
    void theUtilizationOfStepsOfWhichSomeHaveAccountsIsThatOfAll() {
        var scenario = new Scenario();
        scenario.batches = 4096;
        Recording all = scenario.play();
        Recording some = new Recording(all.settings(), all.accounts().stream()
                .filter(account -> account.sequence() % 512 < 32 || account.sequence() == 4095).toList(), all.pauses(),
                all.marks(), all.machine(), all.parts(), all.downloads(), all.samples());
        List<Summary.StageRow> expected = StageTable.of(all);
        List<Summary.StageRow> found = StageTable.of(some);
        assertEquals(expected.size(), found.size());
        for (int i = 0; i < expected.size(); i++) {
            double utilization = expected.get(i).utilization();
            if (utilization < 0.9) {
                assertEquals(utilization, found.get(i).utilization(), 0.02 + utilization / 10,
                        expected.get(i).stage().toString());
            }
        }
    }

    @Test
    void ranksOfTwoClocksAreNotSaidToBeOfOne() {
        Summary slow = rank(0, 5_800, 900, 100);
        Summary other = rank(1, 0, 900, 1_000);
        Summary byDevice = new Summary(other.run(), other.generatedAt(), other.durationSeconds(), other.fingerprint(),
                "gpu", other.ranks(), other.findings(), other.input(), other.overhead());
        Summary merged = Summary.merge(List.of(slow, byDevice));
        assertEquals("mixed", merged.clock());
        assertTrue(merged.text().contains("some ranks by the device's clock"), merged.text());
        assertEquals("mixed", at(SummaryFile.json(merged), "step_time", "global", "window", "diagnosis_clock"));
        assertEquals("gpu", Summary.merge(List.of(byDevice)).clock());
    }

    @Test
    void ranksAreJudgedTogether() {
        List<Summary> ranks = new ArrayList<>(List.of(rank(0, 0, 900, 1_000), rank(1, 0, 900, 1_000),
                rank(2, 5_800, 900, 100), rank(3, 0, 900, 1_000)));
        Summary merged = Summary.merge(ranks);
        assertEquals(4, merged.ranks().size());
        Finding first = merged.findings().getFirst();
        assertEquals(Verdict.INPUT_STRAGGLER, first.verdict(), merged.findings().toString());
        assertEquals(List.of(2), first.ranks());
        assertEquals(2, merged.input().rank());
        ranks.removeLast();
        assertTrue(Summary.merge(ranks).findings().stream()
                .anyMatch(finding -> finding.verdict() == Verdict.INCOMPLETE_DATA));
        assertThrows(IllegalArgumentException.class, () -> Summary.merge(List.of(ranks.getFirst(), ranks.getFirst())));
    }

    @Test
    void aStragglerIsNamedForThePhaseThatCoversItsGap() {
        assertEquals(Verdict.COMPUTE_STRAGGLER, verdict(rank(0, 0, 900, 1_000), rank(1, 0, 900, 1_000),
                rank(2, 0, 1_700, 200)));
        assertEquals(Verdict.STRAGGLER, verdict(rank(0, 0, 900, 1_000), rank(1, 0, 900, 1_000),
                rank(2, 0, 900, 200)));
        assertEquals(Verdict.COMPUTE_BOUND, verdict(rank(0, 0, 900, 1_000), rank(1, 0, 900, 1_000),
                rank(2, 0, 900, 950)));
    }

    private static Verdict verdict(Summary... ranks) {
        return Summary.merge(List.of(ranks)).findings().stream()
                .filter(finding -> finding.verdict() != Verdict.INCOMPLETE_DATA).findFirst().orElseThrow().verdict();
    }
}
