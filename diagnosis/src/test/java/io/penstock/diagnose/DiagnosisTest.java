// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.device.Device;
import io.penstock.diagnose.watch.RankStatus;
import io.penstock.error.MalformedStoreException;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.SteppedTime;
import io.penstock.loader.TransferMode;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.os.ThreadUsage;
import io.penstock.state.Checkpoint;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.Marks;
import io.penstock.telemetry.Phase;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.function.LongUnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real loaders and workers in a time that the test steps: what takes how long is said, and what follows is exact. */
class DiagnosisTest {

    private static final int BATCH = 4;
    private static final long MILLI = 1_000_000;
    private static final double EXACT = 1e-9;

    private final SteppedTime time = new SteppedTime();

    /** A trainer: how long it holds a batch and what it does between two, how many batches it holds at once. */
    private record Trainer(LongUnaryOperator hold, LongUnaryOperator between, int holds, int batches) {
        static Trainer holding(long millis) {
            return new Trainer(_ -> millis * MILLI, _ -> 0, 1, 60);
        }
    }

    private static DataLoaderBuilder loader(LongConsumer decoding) {
        return DataLoader.builder(new InjectedRows(4_000, decoding, null)).batchSize(BATCH).workers(1);
    }

    /** The first row of a batch takes so long, by the batch. */
    private LongConsumer first(LongUnaryOperator nanosOfBatch) {
        return row -> time.sleep(row % BATCH == 0 ? nanosOfBatch.applyAsLong(row / BATCH) : 0, row / BATCH);
    }

    private Summary run(DataLoaderBuilder settings, Trainer trainer) {
        try (DataLoader loader = time.open(settings); Diagnosis diagnosis = new Diagnosis(loader, time);
                SteppedTime _ = time) {
            Deque<Batch> held = new ArrayDeque<>();
            for (int i = 0; i < trainer.batches(); i++) {
                held.add(time.next(i));
                time.sleep(trainer.hold().applyAsLong(i));
                if (held.size() == trainer.holds()) {
                    held.remove().close();
                }
                time.sleep(trainer.between().applyAsLong(i));
            }
            held.forEach(Batch::close);
            return diagnosis.summary();
        }
    }

    private static List<Verdict> verdicts(Summary summary) {
        return summary.findings().stream().map(Finding::verdict).collect(Collectors.toList());
    }

    private static double share(Summary summary, Cause cause) {
        return summary.input().causes().stream().filter(row -> row.cause() == cause)
                .mapToDouble(Summary.CauseRow::share).sum();
    }

    private static void assertInputShare(double expected, Summary summary) {
        Summary.RankSteps rank = summary.ranks().getFirst();
        assertEquals(expected, rank.inputWaitMillis() / rank.stepMillis(), EXACT, summary.text());
    }

    @Test
    void aDecoderThatTakesTwiceTheStepHoldsItBackByHalf() {
        Summary summary = run(loader(first(_ -> 8 * MILLI)), Trainer.holding(4));
        assertEquals(Verdict.INPUT_BOUND, summary.findings().getFirst().verdict(), summary.text());
        assertEquals("decode", summary.findings().getFirst().evidence().get("cause"));
        assertInputShare(0.5, summary);
        assertEquals(1, share(summary, Cause.DECODE), EXACT, summary.text());
        Summary.Prediction present = summary.input().whatIf().getFirst();
        assertTrue(present.trusted(), summary.text());
        Summary.Prediction two = summary.input().whatIf().stream()
                .filter(prediction -> prediction.change().equals("workers 2")).findFirst().orElseThrow();
        assertEquals(1, two.gain(), 0.05, summary.text());
    }

    @Test
    void theSlowestSamplesAreNamedAndASampleIsTimedByStep() {
        Summary summary = run(loader(first(batch -> batch == 10 ? 400 * MILLI : 8 * MILLI)), Trainer.holding(4));
        Summary.SampleUse use = Objects.requireNonNull(summary.samples());
        Summary.SampleStep decode = use.steps().stream().filter(step -> step.step().equals("decode")).findAny()
                .orElseThrow();
        assertTrue(decode.samples() >= 60, decode.toString());
        assertEquals(8, decode.p50Millis(), 1, "a bucket is an eighth wide");
        assertEquals(1, decode.slowSamples());
        Summary.SlowRow slowest = use.slowest().getFirst();
        assertEquals(10 * BATCH, slowest.sample());
        assertEquals("sample 40", slowest.name());
        assertEquals(400, slowest.decodeMillis(), EXACT);
        assertEquals(10, use.slowest().size());
        assertTrue(summary.text().contains("400.0 ms  sample 40"), summary.text());
    }

    @Test
    void restartingForgetsTheSlowSamplesOfTheWarmUp() {
        try (DataLoader loader = time.open(loader(first(batch -> batch == 3 ? 400 * MILLI : 8 * MILLI)));
                Diagnosis diagnosis = new Diagnosis(loader, time); SteppedTime _ = time) {
            for (int i = 0; i < 80; i++) {
                if (i == 20) {
                    assertEquals(12, Objects.requireNonNull(diagnosis.summary().samples()).slowest().getFirst()
                            .sample());
                    diagnosis.restart();
                }
                Batch batch = time.next(i);
                time.sleep(4 * MILLI);
                batch.close();
            }
            Summary.SampleUse use = Objects.requireNonNull(diagnosis.summary().samples());
            assertEquals(8, use.slowest().getFirst().decodeMillis(), EXACT);
            assertTrue(use.slowest().stream().allMatch(row -> row.sample() >= 20 * BATCH), use.toString());
        }
    }

    /** A run of 240 steps of so many ms of decoding for a trainer that holds a batch for 4 ms. */
    private static Optional<PastRuns.Against> runWithPast(Path file, long decodeMicros) throws IOException {
        var time = new SteppedTime();
        try (DataLoader loader = time.open(DataLoader.builder(new InjectedRows(4_000, row ->
                        time.sleep(row % BATCH == 0 ? decodeMicros * 1_000 : 0, row / BATCH), null)).batchSize(BATCH)
                        .workers(1));
                Diagnosis diagnosis = new Diagnosis(loader, time); SteppedTime _ = time) {
            Baseline baseline = diagnosis.openBaseline(file);
            for (int i = 0; i < 240; i++) {
                Batch batch = time.next(i);
                time.sleep(4 * MILLI);
                batch.close();
                if (i == 150) {
                    assertFalse(baseline.look(), "150 steps are too few");
                    assertTrue(diagnosis.past().isEmpty());
                }
            }
            assertTrue(baseline.look());
            Optional<PastRuns.Against> past = diagnosis.past();
            assertEquals(past.filter(PastRuns.Against::isSlower).isPresent(),
                    verdicts(diagnosis.summary()).contains(Verdict.SLOWER_THAN_BEFORE));
            return past;
        }
    }

    @Test
    void aRunThatIsSlowerThanItsPastSaysSoAndWhichPartOfAStepItIs(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("past.json");
        assertTrue(runWithPast(file, 8_000).isEmpty(), "the first run has no past");
        for (long micros : new long[] {8_100, 7_900, 8_050}) {
            assertFalse(runWithPast(file, micros).orElseThrow().beyondNoise());
        }
        PastRuns.Against slower = runWithPast(file, 9_500).orElseThrow();
        assertTrue(slower.isSlower(), slower.text());
        assertEquals(4, slower.runs());
        assertEquals("wait: decode", slower.part());
        assertEquals(1.475, slower.partNowMillis() - slower.partBeforeMillis(), 0.03, slower.text());
        // The slow run is no measure for the next one.
        assertTrue(runWithPast(file, 9_500).orElseThrow().isSlower());
        assertFalse(runWithPast(file, 8_000).orElseThrow().beyondNoise());
    }

    @Test
    void aFileThatIsNoBaselineIsRefused(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("past.json"), "{\"format\": \"other\"}");
        try (DataLoader loader = time.open(loader(first(_ -> 0))); Diagnosis diagnosis = new Diagnosis(loader, time);
                SteppedTime _ = time) {
            String message = assertThrows(MalformedStoreException.class, () -> diagnosis.openBaseline(file))
                    .getMessage();
            assertTrue(message.contains("past.json") && message.contains("penstock-baseline-1"), message);
        }
    }

    @Test
    void aStatusSaysWhereTheLatestStepsGo() {
        try (DataLoader loader = time.open(loader(first(_ -> 8 * MILLI))); Diagnosis diagnosis =
                new Diagnosis(loader, time); SteppedTime _ = time) {
            assertEquals(0, diagnosis.status().window());
            for (int i = 0; i < 120; i++) {
                Batch batch = time.next(i);
                time.sleep(4 * MILLI);
                batch.close();
            }
            RankStatus status = diagnosis.status();
            assertEquals(120, status.step());
            assertEquals(50 - 3, status.window());
            assertEquals(8, status.stepMillis(), EXACT);
            assertEquals(List.of(new RankStatus.StepPart("decode", 4), new RankStatus.StepPart("compute", 4)),
                    status.parts());
            assertEquals(BATCH / 0.008, status.samplesPerSecond(), 1e-6);
            assertEquals(Double.NaN, status.exchangeMillis());
            assertEquals("", status.doing());
            try (Marks.Mark _ = diagnosis.mark("evaluation")) {
                assertEquals("evaluation", diagnosis.status().doing());
            }
        }
    }

    @Test
    void aMarkedBackwardPassIsTheExchangeOfAStatus() {
        try (DataLoader loader = time.open(loader(_ -> { })); Diagnosis diagnosis = new Diagnosis(loader, time);
                SteppedTime _ = time) {
            for (int i = 0; i < 130; i++) {
                try (Batch _ = time.next(i)) {
                    diagnosis.begin(Phase.FORWARD);
                    time.sleep(2 * MILLI);
                    diagnosis.begin(Phase.BACKWARD);
                    time.sleep((i < 60 ? 3 : 5) * MILLI);
                    diagnosis.end();
                }
                if (i == 59) {
                    assertEquals(3, diagnosis.status().exchangeMillis(), EXACT);
                }
            }
            assertEquals(5, diagnosis.status().exchangeMillis(), EXACT);
        }
    }

    @Test
    void whatIsMarkedIsLeftOutOfTheStepsAndACheckpointMarksItself(@TempDir Path folder) throws Exception {
        try (DataLoader loader = time.open(loader(_ -> { })); Diagnosis diagnosis = new Diagnosis(loader, time);
                SteppedTime _ = time) {
            for (int i = 0; i < 60; i++) {
                try (Batch _ = time.next(i)) {
                    diagnosis.begin(Phase.COMPUTE);
                    time.sleep(4 * MILLI);
                    if (i % 20 == 10) {
                        try (Marks.Mark _ = diagnosis.mark("evaluation"); Marks.Mark _ = diagnosis.mark("inner")) {
                            time.sleep(100 * MILLI);
                        }
                    }
                    diagnosis.end();
                }
                Checkpoint.save(folder, i, loader.state());
            }
            Thread.ofPlatform().start(() -> Marks.begin("elsewhere").close()).join();
            Summary summary = diagnosis.summary();
            assertEquals(4, summary.ranks().getFirst().stepMillis(), EXACT, summary.text());
            assertEquals(4, summary.ranks().getFirst().computeMillis(), EXACT, summary.text());
            assertEquals(List.of("evaluation", "checkpoint"), summary.interludes().stream()
                    .map(Summary.InterludeRow::name).toList());
            Summary.InterludeRow evaluation = summary.interludes().getFirst();
            assertEquals(3, evaluation.count());
            assertEquals(300, evaluation.millis(), EXACT);
            assertEquals(300.0 / (300 + 60 * 4), evaluation.share(), 1e-3);
            assertEquals(60, summary.interludes().getLast().count());
        }
    }

    @Test
    void aMapOfSamplesIsToldFromADecoder() {
        var rows = new InjectedRows(4_000, null, null);
        var mapped = rows.map("row", new TensorSpec("row", DType.U8, InjectedRows.WIDTH), "slow", (in, _, out) -> {
                    time.sleep(2 * MILLI, in.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0) / BATCH);
                    out.segment().copyFrom(in.segment());
                });
        Summary summary = run(DataLoader.builder(mapped).batchSize(BATCH).workers(1), Trainer.holding(4));
        assertInputShare(0.5, summary);
        assertEquals(1, share(summary, Cause.TRANSFORM), EXACT, summary.text());
        assertTrue(verdicts(summary).contains(Verdict.TRANSFORM), summary.text());
    }

    @Test
    void thePartsOfAMapAreToldApart() {
        var rows = new InjectedRows(4_000, null, null);
        var mapped = rows.map("row", new TensorSpec("row", DType.U8, InjectedRows.WIDTH), "slow", new SampleMap() {
            @Override
            public List<String> parts() {
                return List.of("quick", "dear");
            }

            @Override
            public void map(Tensor in, RandomGenerator random, Tensor out) {
                map(in, random, out, PartClock.NONE);
            }

            @Override
            public void map(Tensor in, RandomGenerator random, Tensor out, PartClock clock) {
                long batch = in.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0) / BATCH;
                time.sleep(MILLI / 2, batch);
                clock.done(0);
                time.sleep(3 * MILLI / 2, batch);
                clock.done(1);
                out.segment().copyFrom(in.segment());
            }
        });
        Summary summary = run(DataLoader.builder(mapped).batchSize(BATCH).workers(1), Trainer.holding(4));
        assertEquals(List.of(new Summary.PartRow("quick", summary.input().parts().get(0).totalMillis(), 0.25),
                new Summary.PartRow("dear", summary.input().parts().get(1).totalMillis(), 0.75)),
                summary.input().parts());
        Finding found = Diagnoses.finding(summary, Verdict.TRANSFORM);
        assertEquals("dear", found.evidence().get("dearest_step"));
        assertEquals(0.75, found.evidence().get("dearest_step_share"));
    }

    @Test
    void workOfTheThreadThatIsNeitherIsCollating() {
        var rows = new InjectedRows(4_000, null, first(_ -> 8 * MILLI));
        Summary summary = run(DataLoader.builder(rows).batchSize(BATCH).workers(1), Trainer.holding(4));
        assertInputShare(0.5, summary);
        assertEquals(1, share(summary, Cause.COLLATE), EXACT, summary.text());
        assertEquals(Verdict.INPUT_BOUND, summary.findings().getFirst().verdict(), summary.text());
    }

    @Test
    void aLoaderThatKeepsUpIsHealthy() {
        Summary summary = run(loader(first(_ -> MILLI)), Trainer.holding(5));
        assertFalse(verdicts(summary).contains(Verdict.INPUT_BOUND), summary.text());
        assertEquals(Verdict.COMPUTE_BOUND, summary.findings().getFirst().verdict(), summary.text());
        assertTrue(summary.input().slots().backpressureMillis() > 50, summary.text());
    }

    @Test
    void twoWorkersHalveTheWaitAndAreEachAskedInTurn() {
        Summary summary = run(loader(first(_ -> 12 * MILLI)).workers(2), Trainer.holding(3));
        assertInputShare(29 * 6 / (29 * 12 + 3.0), summary);
        assertEquals(1, share(summary, Cause.DECODE), EXACT, summary.text());
    }

    /** Workers and copies take no time here, so that neither can be late; the trainer's clock is the only one. */
    @Test
    void aLoaderThatCopiesAndKeepsUpIsHealthy() {
        Summary summary = run(loader(null).transfer(TransferMode.COPY), 60, 5 * MILLI);
        assertFalse(verdicts(summary).contains(Verdict.INPUT_BOUND), summary.text());
        assertEquals(Verdict.COMPUTE_BOUND, summary.findings().getFirst().verdict(), summary.text());
        assertEquals(0, summary.ranks().getFirst().fetchMillis(), EXACT, summary.text());
    }

    /** The trainer's thread makes the batch and then waits for nothing but its copy. */
    @Test
    void aBusThatTakesTwiceTheStepHoldsItBackByHalf() {
        try (Device host = Device.host()) {
            Summary summary = run(loader(null).workers(0).transfer(TransferMode.COPY)
                    .device(new SlowBus(host, () -> time.advance(4 * MILLI))), 60, 4 * MILLI);
            assertEquals(Verdict.H2D_BOUND, summary.findings().getFirst().verdict(), summary.text());
            assertEquals(0.5, summary.findings().getFirst().score(), EXACT, summary.text());
            assertEquals(1, share(summary, Cause.COPY), EXACT, summary.text());
        }
    }

    /** A loader beside whose trainer nothing sleeps. */
    private Summary run(DataLoaderBuilder settings, int batches, long holdNanos) {
        try (DataLoader loader = time.open(settings); Diagnosis diagnosis = new Diagnosis(loader, time)) {
            for (int i = 0; i < batches; i++) {
                try (Batch _ = loader.next()) {
                    time.advance(holdNanos);
                }
            }
            return diagnosis.summary();
        }
    }

    @Test
    void whatTheTrainerDoesBetweenBatchesIsResidual() {
        Summary summary = run(loader(null), new Trainer(_ -> 4 * MILLI, _ -> 2 * MILLI, 1, 60));
        Summary.RankSteps rank = summary.ranks().getFirst();
        assertEquals(Verdict.RESIDUAL_HEAVY, summary.findings().getFirst().verdict(), summary.text());
        assertEquals(58 * 2 / (58 * 6 + 4.0), rank.residualMillis() / rank.stepMillis(), EXACT, summary.text());
    }

    @Test
    void batchesThatTheTrainerKeepsLeaveWorkersWithoutSlots() {
        Summary summary = run(loader(first(_ -> 4 * MILLI)).prefetch(1), new Trainer(_ -> 4 * MILLI, _ -> 0, 3, 60));
        assertTrue(verdicts(summary).contains(Verdict.SLOT_STARVED), summary.text());
        assertEquals("slot", summary.findings().getFirst().evidence().get("cause"), summary.text());
    }

    @Test
    void enoughSlotsForTheBatchesThatTheTrainerKeepsStarveNobody() {
        Summary enough = run(loader(first(_ -> 2 * MILLI)).prefetch(6), new Trainer(_ -> 4 * MILLI, _ -> 0, 3, 60));
        assertFalse(verdicts(enough).contains(Verdict.SLOT_STARVED), enough.text());
    }

    @Test
    void oneSlowBatchThatOthersStandReadyBehindIsOrder() {
        Summary summary = run(loader(first(batch -> batch % 20 == 10 ? 120 * MILLI : 0)).workers(2).prefetch(3),
                new Trainer(_ -> 2 * MILLI, _ -> 0, 1, 100));
        assertTrue(verdicts(summary).contains(Verdict.ORDER_BLOCKED), summary.text());
        assertEquals(1, share(summary, Cause.ORDER), EXACT, summary.text());
        assertInputShare(5 * 110 / (5 * 110 + 99 * 2.0), summary);
        assertTrue(verdicts(summary).contains(Verdict.TAIL_STALL), summary.text());
    }

    @Test
    void aFirstBatchThatTakesLongIsAColdStartAndNoPartOfTheMean() {
        Summary summary = run(loader(first(batch -> batch == 0 ? 200 * MILLI : 0)), Trainer.holding(3));
        assertTrue(verdicts(summary).contains(Verdict.COLD_START), summary.text());
        assertFalse(verdicts(summary).contains(Verdict.INPUT_BOUND), summary.text());
        assertEquals(200, summary.input().coldStart().openMillis(), EXACT, summary.text());
    }

    @Test
    void slowStepsAtEvenDistancesAreFound() {
        Summary summary = run(loader(null), new Trainer(i -> (i % 15 == 7 ? 30 : 3) * MILLI, _ -> 0, 1, 120));
        assertTrue(verdicts(summary).contains(Verdict.TAIL_STALL), summary.text());
        assertEquals(15, summary.input().tail().every(), summary.text());
    }

    @Test
    void marksSplitAStepIntoPhases() {
        try (DataLoader loader = time.open(loader(null)); Diagnosis diagnosis = new Diagnosis(loader, time)) {
            for (int i = 0; i < 30; i++) {
                try (Batch _ = loader.next()) {
                    diagnosis.begin(Phase.FORWARD);
                    time.advance(2 * MILLI);
                    diagnosis.begin(Phase.BACKWARD);
                    time.advance(4 * MILLI);
                    diagnosis.end();
                    time.advance(3 * MILLI);
                }
            }
            Summary.RankSteps rank = diagnosis.summary().ranks().getFirst();
            assertEquals(2, rank.forwardMillis(), EXACT);
            assertEquals(4, rank.backwardMillis(), EXACT);
            assertEquals(6, rank.computeMillis(), EXACT);
            assertEquals(1.0 / 3, rank.residualMillis() / rank.stepMillis(), EXACT);
        }
    }

    @Test
    void marksOfTheWarmUpAndOfTheSyntheticRunAreNoPartOfTheMeans() {
        try (DataLoader loader = time.open(loader(null)); Diagnosis diagnosis = new Diagnosis(loader, time)) {
            for (int i = 0; i < 25; i++) {
                if (i == 5) {
                    diagnosis.restart();
                }
                try (Batch _ = loader.next()) {
                    forward(diagnosis, i < 5 ? 30 : 2);
                }
            }
            Summary.Headroom headroom = diagnosis.synthetic(10, _ -> forward(diagnosis, 30));
            Summary summary = diagnosis.summary();
            assertEquals(2, summary.ranks().getFirst().forwardMillis(), EXACT);
            assertEquals(20, summary.ranks().getFirst().steps());
            assertEquals(summary.input().samplesPerSecond(), headroom.measuredSamplesPerSecond(), EXACT);
            assertEquals(30.0 / 2, headroom.ratio(), EXACT);
            assertEquals(2, summary.input().stepMillis().max(), EXACT, "the synthetic run is in no step");
        }
    }

    @Test
    void whatFollowsAStopDoesNotCountHoweverOftenItIsStopped() {
        try (DataLoader loader = time.open(loader(null).workers(0));
                Diagnosis diagnosis = new Diagnosis(loader, time)) {
            take(loader, 20);
            diagnosis.stop();
            Recording stopped = diagnosis.recording();
            assertEquals(20, stopped.accounts().size());
            assertEquals(20L * BATCH, stopped.samples());
            take(loader, 10);
            assertEquals(20L * BATCH, diagnosis.recording().samples(), "as many as the accounts have");
            diagnosis.stop();
            assertEquals(stopped.accounts(), diagnosis.recording().accounts());
            assertEquals(20L * BATCH, diagnosis.recording().samples());
            diagnosis.restart();
            take(loader, 5);
            assertEquals(5, diagnosis.recording().accounts().size());
            assertEquals(5L * BATCH, diagnosis.recording().samples());
        }
    }

    private void take(DataLoader loader, int batches) {
        for (int i = 0; i < batches; i++) {
            try (Batch _ = loader.next()) {
                time.advance(MILLI);
            }
        }
    }

    private void forward(Diagnosis diagnosis, long millis) {
        diagnosis.begin(Phase.FORWARD);
        time.advance(millis * MILLI);
        diagnosis.end();
    }

    @Test
    void theTrainersThreadMayMakeAllBatches() {
        Summary summary = run(loader(first(_ -> 3 * MILLI)).workers(0), Trainer.holding(3));
        assertInputShare(0.5, summary);
        assertEquals(1, share(summary, Cause.DECODE), EXACT, summary.text());
    }

    /** What the operating system says of a thread is asked in the machine's time alone, and kept with the batch. */
    @Test
    void inTheMachinesTimeWhatAThreadUsedIsInTheAccount() {
        try (DataLoader loader = loader(null).workers(0).open(); Diagnosis diagnosis = Diagnosis.of(loader)) {
            for (int i = 0; i < 40; i++) {
                loader.next().close();
            }
            Recording recording = diagnosis.recording();
            List<BatchAccount.Usage> usages = recording.accounts().stream().map(account -> account.making().usage())
                    .filter(Objects::nonNull).toList();
            assertEquals(ThreadUsage.AVAILABLE, !usages.isEmpty());
            assertTrue(usages.stream().allMatch(usage -> usage.cpuNanos() >= 0), usages.toString());
            assertEquals(40, recording.accounts().size());
        }
    }

    @Test
    void accountsOutliveMovesAndAreBoundToTheirBatch() {
        try (DataLoader loader = loader(null).open()) {
            for (int i = 0; i < 10; i++) {
                loader.next().close();
            }
            loader.seek(0);
            for (int i = 0; i < 10; i++) {
                loader.next().close();
            }
            List<BatchAccount> accounts = loader.accounts().orElseThrow().since(0);
            assertEquals(20, accounts.size());
            for (int i = 0; i < 20; i++) {
                BatchAccount account = accounts.get(i);
                assertEquals(i, account.sequence());
                assertEquals(i % 10 == 0, account.first());
                assertEquals(BATCH, account.samples());
                assertNotEquals(0, account.bytes());
                assertTrue(account.making().claimedAt() <= account.making().madeAt());
                assertTrue(account.making().madeAt() <= account.taking().takenAt(), account.toString());
                assertTrue(account.taking().takenAt() <= account.taking().closedAt());
            }
        }
    }

    @Test
    void aLoaderWithoutAccountsHasNothingToDiagnose() {
        Summary summary = run(loader(null).withoutAccounts(), 60, MILLI);
        assertEquals(List.of(Verdict.NO_DATA), verdicts(summary));
    }

    @Test
    void aCopyIsNotMarkedBecauseTheLoaderMeasuresIt() {
        try (DataLoader loader = loader(null).workers(0).open(); Diagnosis diagnosis = Diagnosis.of(loader)) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                    () -> diagnosis.begin(Phase.COPY));
            assertTrue(e.getMessage().contains("found COPY"), e.getMessage());
        }
    }
}
