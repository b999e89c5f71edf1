package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.memory.Span;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongToIntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the flight recorder is told of a loader is what the loader's accounts say, by the recorder's clock. */
class FlightEventsTest {

    private static final int BATCHES = 40;
    private static final int BATCH_SIZE = 4;
    private static final long MILLI = 1_000_000;

    @TempDir
    Path folder;

    /** Rows that take as long to read as is said of each. */
    private record SlowRows(ByteRows rows, LongToIntFunction millis) implements Dataset {

        @Override
        public long size() {
            return rows.size();
        }

        @Override
        public List<TensorSpec> fields() {
            return rows.fields();
        }

        @Override
        public void locate(long sample, int field, Span into) {
            sleep(millis.applyAsInt(sample));
            rows.locate(sample, field, into);
        }

        @Override
        public long maxLength(int field) {
            return rows.maxLength(field);
        }

        @Override
        public String fingerprint() {
            return rows.fingerprint();
        }
    }

    /** What was recorded, and what the loader says itself. */
    private record Played(List<RecordedEvent> events, List<BatchAccount> accounts) {

        List<RecordedEvent> of(String name) {
            return events.stream().filter(event -> event.getEventType().getName().equals("penstock." + name)).toList();
        }

        Map<Long, RecordedEvent> byBatch(String name) {
            return of(name).stream().collect(Collectors.toMap(event -> event.getLong("batch"), event -> event));
        }

        BatchAccount account(RecordedEvent event) {
            return accounts.stream().filter(account -> account.sequence() == event.getLong("batch")).findFirst()
                    .orElseThrow();
        }
    }

    private static void sleep(int millis) {
        if (millis > 0) {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Played play(LongToIntFunction millisOfRow, int holdMillis, UnaryOperator<DataLoaderBuilder> settings)
            throws IOException {
        Path file = folder.resolve("run.jfr");
        List<BatchAccount> accounts = new ArrayList<>();
        try (Recording recording = new Recording()) {
            recording.enable("penstock.Queue").withPeriod(Duration.ofMillis(20));
            recording.start();
            var rows = new SlowRows(new ByteRows(BATCHES * BATCH_SIZE, 512), millisOfRow);
            try (DataLoader loader = settings.apply(DataLoader.of(rows).batchSize(BATCH_SIZE).endEpoch(1)
                    .name("recorded")).open()) {
                for (Batch batch : loader.epoch()) {
                    try (batch) {
                        sleep(holdMillis);
                    }
                }
                accounts.addAll(loader.accounts().map(kept -> kept.since(0)).orElse(List.of()));
            }
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith("penstock.")).toList();
        Files.delete(file);
        return new Played(events, accounts);
    }

    /** Between a clock's being read and the other's, a thread may lose its core: so in most events. */
    private static final class Clocks {

        private final List<Double> apart = new ArrayList<>();

        void add(long nanos, RecordedEvent event) {
            apart.add(Math.abs(event.getDuration().toNanos() - nanos) / (double) Math.max(10 * MILLI, nanos));
        }

        void assertAgree() {
            double median = apart.stream().sorted().toList().get(apart.size() / 2);
            assertTrue(median < 0.1, apart.toString());
        }
    }

    @Test
    void whereWorkersAreSlowTheWaitsAndTheStagesAreTold() throws IOException {
        Played run = play(_ -> 2, 0, loader -> loader.workers(1));
        assertEquals(BATCHES, run.accounts().size());

        Map<Long, RecordedEvent> stages = run.byBatch("Stage");
        Map<Long, RecordedEvent> waits = run.byBatch("ConsumerWait");
        Map<Long, RecordedEvent> steps = run.byBatch("Step");
        assertEquals(BATCHES, stages.size());
        assertEquals(BATCHES, steps.size());
        var stageClocks = new Clocks();
        var waitClocks = new Clocks();
        Map<String, Integer> waitedFor = new HashMap<>();
        for (BatchAccount account : run.accounts()) {
            BatchAccount.Making made = account.making();
            RecordedEvent stage = stages.get(account.sequence());
            assertEquals("recorded", stage.getString("loader"));
            assertEquals(made.plannedAt() - made.slotAt(), stage.getDuration("planTime").toNanos());
            assertEquals(made.collateNanos(), stage.getDuration("collateTime").toNanos());
            assertEquals(account.bytes(), stage.getLong("bytes"));
            assertEquals(account.samples(), stage.getInt("samples"));
            assertEquals(made.worker(), stage.getInt("worker"));
            stageClocks.add(made.madeAt() - made.plannedAt(), stage);
            if (made.usage() != null) {
                assertEquals(made.usage().cpuNanos(), stage.getDuration("cpuTime").toNanos());
                assertEquals(made.blockedNanos(), stage.getDuration("blockedTime").toNanos());
            }

            RecordedEvent step = steps.get(account.sequence());
            assertEquals(account.taking().waitNanos(), step.getDuration("waitTime").toNanos());
            assertEquals(account.first(), step.getBoolean("first"));
            if (account.taking().waitNanos() > 2 * MILLI) {
                waitedFor.merge(step.getString("waitedFor"), 1, Integer::sum);
                waitClocks.add(account.taking().waitNanos(), waits.get(account.sequence()));
            }
        }
        stageClocks.assertAgree();
        waitClocks.assertAgree();
        assertTrue(waitedFor.getOrDefault("make", 0) > BATCHES / 2, waitedFor.toString());
        assertTrue(waits.size() > BATCHES / 2, waits.size() + " waits");
        assertTrue(stages.get(0L).getThread().getJavaName().startsWith("recorded-"), "told by the worker");
        assertEquals(Thread.currentThread().getName(), waits.get(1L).getThread().getJavaName());
    }

    @Test
    void whereTheTrainerIsSlowWorkersWaitForSlots() throws IOException {
        Played run = play(_ -> 0, 5, loader -> loader.workers(1).prefetch(1));
        List<RecordedEvent> waits = run.of("SlotWait");
        assertTrue(waits.size() > BATCHES / 2, waits.size() + " waits");
        var slotClocks = new Clocks();
        for (RecordedEvent wait : waits) {
            if (wait.getLong("batch") < BATCHES) {
                BatchAccount.Making made = run.account(wait).making();
                slotClocks.add(made.slotAt() - made.claimedAt(), wait);
            }
        }
        slotClocks.assertAgree();
        Map<Long, RecordedEvent> steps = run.byBatch("Step");
        var stepClocks = new Clocks();
        for (BatchAccount account : run.accounts()) {
            RecordedEvent step = steps.get(account.sequence());
            long computed = account.taking().closedAt() - account.taking().takenAt();
            assertEquals(computed, step.getDuration("computeTime").toNanos(), 0.1 * computed);
            long parts = List.of("waitTime", "computeTime", "residualTime").stream()
                    .mapToLong(part -> step.getDuration(part).toNanos()).sum();
            stepClocks.add(parts, step);
        }
        stepClocks.assertAgree();
        assertTrue(run.of("ConsumerWait").size() < BATCHES / 2, "the trainer has no reason to wait");
    }

    /** The recorder's own thread may take a second to see that there is something to look at now and then. */
    @Test
    void theQueueIsLookedAtNowAndThen() throws IOException {
        Played run = play(_ -> 0, 40, loader -> loader.workers(1).prefetch(1));
        List<RecordedEvent> queue = run.of("Queue");
        assertTrue(queue.size() >= 3, queue.size() + " looks at the queue");
        assertEquals(3, queue.getLast().getInt("slots"));
        assertTrue(queue.stream().allMatch(look -> look.getInt("filledSlots") <= 3), queue.toString());
        assertTrue(queue.stream().mapToLong(look -> look.getLong("batches")).sum() <= BATCHES, queue.toString());
    }

    @Test
    void aBatchThatOvertakesAnotherWaitsForItsTurn() throws IOException {
        Played run = play(row -> row == 10 * BATCH_SIZE ? 150 : 1, 0, loader -> loader.workers(2).prefetch(4));
        RecordedEvent overtook = run.byBatch("OrderWait").get(11L);
        assertNotNull(overtook, run.of("OrderWait").toString());
        BatchAccount account = run.account(overtook);
        long stood = account.taking().takenAt() - account.making().madeAt();
        assertTrue(stood >= 20 * MILLI, account.toString());
        assertEquals(stood, overtook.getDuration().toNanos(), 0.5 * stood, overtook.toString());
    }

    @Test
    void aCopyIsTold() throws IOException {
        Played run = play(_ -> 0, 1, loader -> loader.workers(1).transfer(TransferMode.COPY));
        Map<Long, RecordedEvent> copies = run.byBatch("Transfer");
        var copyClocks = new Clocks();
        for (BatchAccount account : run.accounts()) {
            RecordedEvent copy = copies.get(account.sequence());
            assertEquals(account.bytes(), copy.getLong("bytes"));
            assertEquals(account.copying().submittedAt() - account.copying().submitAt(),
                    copy.getDuration("submitTime").toNanos());
            copyClocks.add(account.copying().arrivedAt() - account.copying().submitAt(), copy);
        }
        copyClocks.assertAgree();
    }

    @Test
    void aLoaderWithoutAccountsTellsNothing() throws IOException {
        assertEquals(List.of(), play(_ -> 0, 0, loader -> loader.accounts(false)).events());
    }

    /** Not to the next step either, though the same objects serve it. */
    @Test
    void whatIsDoneBetweenEpochsIsNoPartOfAStep() throws IOException {
        Path file = folder.resolve("epochs.jfr");
        try (Recording recording = new Recording()) {
            recording.start();
            try (DataLoader loader = DataLoader.of(new ByteRows(8, 16)).batchSize(4).endEpoch(2).open()) {
                for (int epoch = 0; epoch < 2; epoch++) {
                    for (Batch batch : loader.epoch()) {
                        batch.close();
                    }
                    sleep(50);
                }
            }
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> steps = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("penstock.Step")).toList();
        assertEquals(4, steps.size(), steps.toString());
        for (RecordedEvent step : steps) {
            assertTrue(step.getDuration().toMillis() < 50, step.toString());
        }
    }
}
