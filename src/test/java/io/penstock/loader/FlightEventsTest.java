// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.FieldSource;
import io.penstock.loader.slots.SpinGate;
import io.penstock.memory.TensorSpec;
import io.penstock.telemetry.BatchAccount;
import io.penstock.testing.Fields;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the flight recorder is told of a loader is what the loader's accounts say, by the recorder's clock. Workers and
 * trainer go on when the other one waits, which is a state of its thread, so that there are waits to be told of.
 */
@Timeout(1200)
class FlightEventsTest {

    private static final int BATCHES = 40;
    private static final int BATCH_SIZE = 4;
    private static final long MILLI = 1_000_000;

    @TempDir
    Path folder;

    /** Rows, and what happens before each is read. */
    private record HeldRows(ByteRows rows, LongConsumer before) implements Dataset {

        @Override
        public long size() {
            return rows.size();
        }

        @Override
        public List<TensorSpec> fields() {
            return rows.fields();
        }

        @Override
        public FieldSource source(int field) {
            return FieldSource.stored((sample, into) -> {
                before.accept(sample);
                Fields.locate(rows, sample, field, into);
            });
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

    private static final LongConsumer AT_ONCE = _ -> { };

    /** Waits until a thread of the loader, or the trainer, waits for the other side; or has nothing left to do. */
    private static void awaitWaiting(Thread thread) {
        while (!(LockSupport.getBlocker(thread) instanceof SpinGate)
                && (thread.getState() != Thread.State.WAITING || LockSupport.getBlocker(thread) != null)) {
            Thread.yield();
        }
    }

    private static Thread worker() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("recorded-worker-0")).findAny().orElseThrow();
    }

    /**
     * Makes a batch when the trainer waits for it, and takes its time.
     *
     * @param taken how many batches the trainer has had: before that, it waits for an earlier one, or for a core
     */
    private static LongConsumer whenTheTrainerWaits(AtomicLong taken) {
        Thread trainer = Thread.currentThread();
        return row -> {
            if (row % BATCH_SIZE == 0) {
                while (taken.get() < row / BATCH_SIZE) {
                    Thread.yield();
                }
                awaitWaiting(trainer);
            }
            sleep(2);
        };
    }

    private Played play(LongConsumer beforeRow, Consumer<Batch> step, UnaryOperator<DataLoaderBuilder> settings)
            throws IOException {
        Path file = folder.resolve("run.jfr");
        List<BatchAccount> accounts = new ArrayList<>();
        try (Recording recording = new Recording()) {
            recording.enable("penstock.Queue").withPeriod(Duration.ofMillis(20));
            for (String wait : List.of("penstock.SlotWait", "penstock.OrderWait", "penstock.ConsumerWait")) {
                recording.enable(wait).withThreshold(Duration.ZERO);    // the other side may come within 50 us
            }
            recording.start();
            var rows = new HeldRows(new ByteRows(BATCHES * BATCH_SIZE, 512), beforeRow);
            // Without read-ahead: a loader that is opened locates a sample, and these hold who locates them.
            try (DataLoader loader = settings.apply(DataLoader.builder(rows).batchSize(BATCH_SIZE).endEpoch(1)
                    .readAhead(0).name("recorded")).open()) {
                for (Batch batch : loader.epoch()) {
                    try (batch) {
                        step.accept(batch);
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

    /**
     * Between a clock's being read and the other's, a thread may lose its core, and does so now and then: where both
     * measure the same, they agree in some event.
     */
    private static final class Clocks {

        private final List<Double> apart = new ArrayList<>();

        void add(long nanos, RecordedEvent event) {
            apart.add(Math.abs(event.getDuration().toNanos() - nanos) / (double) Math.max(MILLI, nanos));
        }

        void assertAgree() {
            assertTrue(apart.stream().anyMatch(share -> share < 0.1), apart.toString());
        }
    }

    @Test
    void whereWorkersAreSlowTheWaitsAndTheStagesAreTold() throws IOException {
        var taken = new AtomicLong();
        Played run = play(whenTheTrainerWaits(taken), _ -> taken.incrementAndGet(), loader -> loader.workers(1));
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
            assertTrue(account.taking().waitNanos() >= 2 * MILLI, account.toString());
            waitedFor.merge(step.getString("waitedFor"), 1, Integer::sum);
            waitClocks.add(account.taking().waitNanos(), waits.get(account.sequence()));
        }
        stageClocks.assertAgree();
        waitClocks.assertAgree();
        assertTrue(waitedFor.containsKey("make"), waitedFor.toString());
        assertEquals(BATCHES, waits.size());
        assertTrue(stages.get(0L).getThread().getJavaName().startsWith("recorded-"), "told by the worker");
        assertEquals(Thread.currentThread().getName(), waits.get(1L).getThread().getJavaName());
    }

    /** Each step lasts until the worker has filled the other slots and waits for this batch's. */
    @Test
    void whereTheTrainerIsSlowWorkersWaitForSlots() throws IOException {
        var begun = new AtomicLong();
        var steps = new AtomicLong();
        Played run = play(row -> begun.set((row + 1) / BATCH_SIZE), _ -> {
            long filled = Math.min(BATCHES, steps.incrementAndGet() + 2);
            while (begun.get() < filled) {
                Thread.yield();
            }
            awaitWaiting(worker());
        }, loader -> loader.workers(1).prefetch(1));
        List<RecordedEvent> waits = run.of("SlotWait");
        long waited = run.accounts().stream().map(BatchAccount::making)
                .filter(made -> made.slotAt() > made.claimedAt()).count();
        assertEquals(waited, waits.size(), "an event for each batch whose slot was waited for");
        assertEquals(BATCHES - 3, waited, "the first three batches found a slot each");
        var slotClocks = new Clocks();
        for (RecordedEvent wait : waits) {
            BatchAccount.Making made = run.account(wait).making();
            slotClocks.add(made.slotAt() - made.claimedAt(), wait);
        }
        slotClocks.assertAgree();
        Map<Long, RecordedEvent> stepEvents = run.byBatch("Step");
        var stepClocks = new Clocks();
        for (BatchAccount account : run.accounts()) {
            RecordedEvent step = stepEvents.get(account.sequence());
            long computed = account.taking().closedAt() - account.taking().takenAt();
            assertEquals(computed, step.getDuration("computeTime").toNanos());
            long parts = List.of("waitTime", "computeTime", "residualTime").stream()
                    .mapToLong(part -> step.getDuration(part).toNanos()).sum();
            stepClocks.add(parts, step);
        }
        stepClocks.assertAgree();
        assertTrue(run.accounts().stream().skip(1)
                .allMatch(account -> account.making().madeAt() <= account.taking().requestedAt()),
                "behind the first batch, the trainer has no reason to wait");
    }

    /** The recorder's own thread looks when it does: the first batch is held until it has. */
    @Test
    void theQueueIsLookedAtNowAndThen() throws Exception {
        var looks = new CountDownLatch(3);
        Played run;
        try (var beside = new RecordingStream()) {
            beside.enable("penstock.Queue").withPeriod(Duration.ofMillis(20));
            beside.onEvent("penstock.Queue", _ -> looks.countDown());
            beside.startAsync();
            run = play(AT_ONCE, _ -> await(looks), loader -> loader.workers(1).prefetch(1));
        }
        List<RecordedEvent> queue = run.of("Queue");
        assertTrue(queue.size() >= 3, queue.size() + " looks at the queue");
        assertEquals(3, queue.getLast().getInt("slots"));
        assertTrue(queue.stream().allMatch(look -> look.getInt("filledSlots") <= 3), queue.toString());
        assertTrue(queue.stream().mapToLong(look -> look.getLong("batches")).sum() <= BATCHES, queue.toString());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Batch 10 is made when the other worker has gone on from batch 11 to 12, and then takes its time. */
    @Test
    void aBatchThatOvertakesAnotherWaitsForItsTurn() throws IOException {
        var overtaken = new CountDownLatch(1);
        Played run = play(row -> {
            if (row == 10 * BATCH_SIZE) {
                await(overtaken);
                sleep(20);
            } else if (row == 12 * BATCH_SIZE) {
                overtaken.countDown();
            }
        }, _ -> { }, loader -> loader.workers(2).prefetch(4));
        RecordedEvent overtook = run.byBatch("OrderWait").get(11L);
        assertNotNull(overtook, run.of("OrderWait").toString());
        BatchAccount account = run.account(overtook);
        long stood = account.taking().takenAt() - account.making().madeAt();
        long told = overtook.getDuration().toNanos();
        assertTrue(19 * MILLI <= told && told <= stood + MILLI, told + " ns of " + account);
    }

    @Test
    void aCopyIsTold() throws IOException {
        Played run = play(AT_ONCE, _ -> sleep(1), loader -> loader.workers(1).transfer(TransferMode.COPY));
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
        assertEquals(List.of(), play(AT_ONCE, _ -> { }, DataLoaderBuilder::withoutAccounts).events());
    }

    /** Not to the next step either, though the same objects serve it. */
    @Test
    void whatIsDoneBetweenEpochsIsNoPartOfAStep() throws IOException {
        Path file = folder.resolve("epochs.jfr");
        long withoutPauses;
        try (Recording recording = new Recording()) {
            recording.start();
            long begin = System.nanoTime();
            try (DataLoader loader = DataLoader.builder(new ByteRows(8, 16)).batchSize(4).endEpoch(2).open()) {
                for (int epoch = 0; epoch < 2; epoch++) {
                    for (Batch batch : loader.epoch()) {
                        batch.close();
                    }
                    long pause = System.nanoTime();
                    sleep(50);
                    begin += System.nanoTime() - pause;
                }
            }
            withoutPauses = System.nanoTime() - begin;
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> steps = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("penstock.Step")).toList();
        assertEquals(4, steps.size(), steps.toString());
        long inSteps = steps.stream().mapToLong(step -> step.getDuration().toNanos()).sum();
        assertTrue(inSteps <= withoutPauses + MILLI, steps.toString());
    }
}
