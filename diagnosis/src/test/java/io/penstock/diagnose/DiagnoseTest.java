// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.diagnose.report.HtmlReport;
import io.penstock.json.Json;
import io.penstock.telemetry.Phase;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Input of another library: sources of known delay and trainers of known cost, on a clock that does as it is told. */
class DiagnoseTest {

    private static final long MICRO = 1_000;

    /** What the clock says; sources and trainers move it. */
    private long now = 1_000_000;

    private void spend(long micros) {
        now += micros * MICRO;
    }

    /** Epochs whose items take some time to come, in hasNext or in next. */
    private Iterable<Integer> source(int items, long inHasNext, long inNext) {
        return () -> new Iterator<>() {
            private int given;

            @Override
            public boolean hasNext() {
                spend(inHasNext);
                return given < items;
            }

            @Override
            public Integer next() {
                spend(inNext);
                return given++;
            }
        };
    }

    private <T> DiagnosedInput<T> input(Iterable<T> source) {
        return new DiagnosedInput<>(source::iterator, () -> now);
    }

    private Summary run(long inHasNext, long inNext, long compute) {
        try (DiagnosedInput<Integer> input = input(source(100, inHasNext, inNext))) {
            for (Integer _ : input) {
                spend(compute);
            }
            return input.summary();
        }
    }

    private static double inputShare(Summary summary) {
        RankSteps rank = summary.ranks().getFirst();
        return rank.inputWaitMillis() / rank.stepMillis();
    }

    @Test
    void aSlowSourceIsInputBoundWithItsShareWhereverItWaits() {
        for (Summary slow : List.of(run(0, 600, 400), run(600, 0, 400), run(150, 450, 400))) {
            Finding first = slow.findings().getFirst();
            assertEquals(Verdict.INPUT_BOUND, first.verdict());
            assertEquals(Severity.CRIT, first.severity());
            assertEquals(0.6, (double) first.evidence().get("share"), 1e-9);
            assertEquals(0.6, inputShare(slow), 1e-9);
            assertFalse(first.evidence().containsKey("cause"), "the cause is not known");
        }
    }

    @Test
    void aSourceThatIsAheadIsNoFinding() {
        Summary healthy = run(10, 20, 970);
        assertEquals(List.of(Verdict.COMPUTE_BOUND), healthy.findings().stream().map(Finding::verdict).toList());
        assertEquals(0.03, inputShare(healthy), 1e-9);
        assertEquals(Severity.INFO, healthy.findings().getFirst().severity());
    }

    @Test
    void severityRisesWithTheShare() {
        assertEquals(Severity.INFO, run(0, 70, 930).findings().getFirst().severity());
        assertEquals(Severity.WARN, run(0, 150, 850).findings().getFirst().severity());
        assertEquals(Severity.CRIT, run(0, 250, 750).findings().getFirst().severity());
    }

    @Test
    void whatIsMarkedIsToldApart() {
        try (DiagnosedInput<Integer> input = input(source(50, 0, 50)).named("marked").counting(_ -> 32)) {
            for (Integer _ : input) {
                input.begin(Phase.COPY);
                spend(300);
                input.begin(Phase.FORWARD);
                spend(150);
                input.begin(Phase.BACKWARD);
                spend(350);
                input.end();
                spend(150);
            }
            Summary summary = input.summary();
            RankSteps rank = summary.ranks().getFirst();
            assertEquals(1.0, rank.stepMillis(), 1e-9);
            assertEquals(0.05, rank.inputWaitMillis(), 1e-9);
            assertEquals(0.3, rank.h2dMillis(), 1e-9);
            assertEquals(0.5, rank.computeMillis(), 1e-9);
            assertEquals(0.15, rank.forwardMillis(), 1e-9);
            assertEquals(0.35, rank.backwardMillis(), 1e-9);
            assertEquals(0.15, rank.residualMillis(), 1e-9);
            assertTrue(Double.isNaN(rank.optimizerMillis()), "never marked is not measured");
            assertEquals(List.of(Verdict.H2D_BOUND, Verdict.RESIDUAL_HEAVY, Verdict.INPUT_BOUND),
                    summary.findings().stream().map(Finding::verdict).toList());
            assertEquals(32_000, summary.input().samplesPerSecond(), 1e-6);
            assertEquals("marked", summary.run());
        }
    }

    @Test
    void whatIsDoneBetweenEpochsIsNoPartOfAStepNorTheFirstBatchOfTheSteadyState() {
        try (DiagnosedInput<Integer> input = input(source(10, 100, 0))) {
            for (int epoch = 0; epoch < 3; epoch++) {
                spend(50_000);
                Iterator<Integer> items = input.iterator();
                while (items.hasNext()) {
                    items.next();
                    spend(900);
                }
                spend(80_000);
            }
            Summary summary = input.summary();
            assertEquals(27, summary.ranks().getFirst().steps());
            assertEquals(1.0, summary.input().stepMillis().max(), 1e-9);
            assertEquals(3, summary.input().coldStart().count());
            assertEquals(0.1, inputShare(summary), 1e-9);
        }
    }

    @Test
    void aStepThatWasBrokenOffIsLeftOut() {
        try (DiagnosedInput<Integer> input = input(source(10, 0, 100))) {
            Iterator<Integer> items = input.iterator();
            for (int i = 0; i < 4; i++) {
                items.next();
                spend(900);
            }
            assertEquals(3, input.summary().input().series().stream().mapToInt(Summary.StepPoint::steps).sum());
            input.restart();
            items.next();
            assertEquals(1, input.summary().input().series().stream().mapToInt(Summary.StepPoint::steps).sum());
        }
    }

    @Test
    void memoryDoesNotGrowWithTheRun() {
        try (DiagnosedInput<Integer> input = input(source(20_000, 0, 1))) {
            for (Integer _ : input) {
                spend(9);
            }
            Summary summary = input.summary();
            assertEquals(StepLog.STEPS, summary.ranks().getFirst().steps());
            assertEquals(19_999, summary.ranks().getFirst().lastStep());
            assertTrue(summary.input().series().size() <= Summarizer.SERIES_POINTS);
        }
    }

    @Test
    void whatTheSourceThrowsAndReturnsIsTheTrainers() {
        try (DiagnosedInput<Integer> input = Diagnose.wrap(IntStream.range(0, 3).boxed())) {
            Iterator<Integer> items = input.iterator();
            assertEquals(List.of(0, 1, 2), List.of(items.next(), items.next(), items.next()));
            assertFalse(items.hasNext());
            assertThrows(NoSuchElementException.class, items::next);
            assertThrows(IllegalStateException.class, input::iterator);
        }
        try (DiagnosedInput<String> none = Diagnose.wrap(List.<String>of())) {
            assertFalse(none.iterator().hasNext());
            assertEquals(Verdict.NO_DATA, none.summary().findings().getFirst().verdict());
        }
        try (DiagnosedInput<Object> failing = Diagnose.wrap(Stream.generate(() -> {
            throw new IllegalArgumentException("a bad file");
        }))) {
            assertThrows(IllegalArgumentException.class, failing.iterator()::next);
        }
    }

    @Test
    void whatIsNotKnownIsAbsentAndTheFilesAndReportsAreTheSame(@TempDir Path folder) throws IOException {
        Summary summary = run(0, 600, 400);
        summary.write(folder);
        Summary read = Summary.read(folder);
        assertEquals(summary.text(), read.text());
        Map<?, ?> json = (Map<?, ?>) Json.parse(Json.write(SummaryFile.json(read)));
        Map<?, ?> pipeline = (Map<?, ?>) json.get("input_pipeline");
        assertEquals(List.of(), pipeline.get("causes"));
        assertEquals(List.of(), pipeline.get("stages"));
        assertNull(pipeline.get("slots"));
        assertNull(pipeline.get("read_amplification"));
        Map<?, ?> average = (Map<?, ?>) ((Map<?, ?>) ((Map<?, ?>) json.get("step_time")).get("global")).get("average");
        assertNull(average.get("h2d_ms"), "not marked, so not measured");
        assertEquals(0.6, ((Number) average.get("input_wait_ms")).doubleValue(), 1e-9);
        Map<?, ?> memory = (Map<?, ?>) ((Map<?, ?>) ((Map<?, ?>) json.get("step_memory")).get("global")).get("average");
        assertNull(memory.get("peak_reserved_bytes"));
        for (String line : summary.text().split("\n")) {
            assertEquals(78, line.length(), line);
        }
        assertTrue(summary.text().contains("unknown: another library"), summary.text());
        assertTrue(HtmlReport.of(summary).contains("INPUT-BOUND"));
        assertFalse(HtmlReport.of(summary).contains("NaN"), "what is not known is not drawn");
    }

    @Test
    void ranksAreMerged() {
        Summary slow = ranked(0, 600);
        Summary merged = Summary.merge(List.of(slow, ranked(1, 600)));
        assertEquals(2, merged.ranks().size());
        assertEquals(Verdict.INPUT_BOUND, merged.findings().getFirst().verdict());
    }

    private Summary ranked(int rank, long wait) {
        try (DiagnosedInput<Integer> input = input(source(50, 0, wait)).ofRank(rank, 2)) {
            for (Integer _ : input) {
                spend(1000 - wait);
            }
            return input.summary();
        }
    }

    /** By the real clock: what the source and the trainer saw of it lies within what the summary says. */
    @Test
    void byTheRealClockWaitsAndStepsHoldWhatStopwatchesOnBothSidesSaw() {
        long[] watches = new long[2];
        Iterator<Integer> source = new Iterator<>() {
            private int given;

            @Override
            public boolean hasNext() {
                return given < 60;
            }

            @Override
            public Integer next() {
                watches[0] += given == 0 ? 0 : work();
                return given++;
            }
        };
        long begin = System.nanoTime();
        try (DiagnosedInput<Integer> input = Diagnose.wrap(source)) {
            for (int item : input) {
                watches[1] += item == 0 ? 0 : work();
            }
            Summary summary = input.summary();
            double all = System.nanoTime() - begin;
            RankSteps rank = summary.ranks().getFirst();
            double steps = rank.steps() * rank.stepMillis() * 1e6;
            double waits = rank.steps() * rank.inputWaitMillis() * 1e6;
            assertEquals(59, rank.steps(), "the first is told apart");
            assertTrue(watches[0] <= waits + 1 && waits <= steps - watches[1] + 1 && steps <= all, summary.text());
        }
    }

    private static long work() {
        long begin = System.nanoTime();
        long x = begin;
        for (int i = 0; i < 10_000; i++) {
            x = x * 31 + i;
        }
        return System.nanoTime() - begin + (x == 0 ? 1 : 0);
    }

    @Test
    void findingsAreToldToTheFlightRecorder(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("findings.jfr");
        Summary summary;
        try (var recording = new jdk.jfr.Recording()) {
            recording.start();
            summary = run(0, 600, 400);
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> told = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("penstock.Diagnosis")).toList();
        assertEquals(summary.findings().size(), told.size());
        assertEquals("INPUT-BOUND", told.getFirst().getString("verdict"));
        assertEquals("crit", told.getFirst().getString("severity"));
        assertEquals(0.6, told.getFirst().getDouble("score"), 1e-9);
        assertEquals(summary.findings().getFirst().summary(), told.getFirst().getString("summary"));
    }

    @Test
    void anEpochOfTheSameItemsIsWatchedAgain() {
        try (DiagnosedInput<Integer> input = input(Collections.nCopies(5, 1))) {
            int sum = 0;
            for (int epoch = 0; epoch < 2; epoch++) {
                for (int item : input) {
                    sum += item;
                    spend(10);
                }
            }
            assertEquals(10, sum);
            assertEquals(1, input.summary().input().series().getLast().epoch());
        }
    }
}
