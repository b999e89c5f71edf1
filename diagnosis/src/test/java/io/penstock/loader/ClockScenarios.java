// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.Collator;
import io.penstock.collate.Stack;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.BatchReader;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.cuda.CudaSimulator;
import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.Finding;
import io.penstock.diagnose.Summary;
import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.diagnose.Verdict;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.sampling.BatchPlan;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Marked;
import io.penstock.telemetry.BatchAccount.OnDevice;
import io.penstock.telemetry.Phase;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What the device's clock tells, by a clock that only the scenario moves. Run by {@link Scenarios}. */
final class ClockScenarios {

    private static final int SLOTS = 3;
    /** In units that CUDA's times, floats of milliseconds, hold exactly. */
    private static final long UNIT_MICROS = 125;
    private static final long UNIT = UNIT_MICROS * 1_000;

    private ClockScenarios() {
    }

    /** Takes batches on the trainer's stream, each with a kernel of so many units. */
    private static List<BatchAccount> train(DataLoader loader, SimulatedTrainer trainer, int batches, long units) {
        for (int i = 0; i < batches; i++) {
            try (Batch batch = loader.next(trainer.stream)) {
                trainer.compute(batch, trainer.stream, units * UNIT_MICROS);
            }
        }
        return loader.accounts().orElseThrow().since(0);
    }

    /** A slow reference: all is enqueued at once, streams run in order, and a slot takes a batch after its last one. */
    private static OnDevice[] expected(int batches, long copy, long compute) {
        long[] asked = new long[batches + 1];
        long[] used = new long[batches];
        OnDevice[] expected = new OnDevice[batches];
        long ready = 0;
        for (int i = 0; i < batches; i++) {
            long begin = Math.max(ready, i < SLOTS ? 0 : used[i - SLOTS]);
            ready = begin + copy;
            used[i] = Math.max(asked[i], ready) + compute;
            asked[i + 1] = used[i];
            expected[i] = new OnDevice(copy, 0, Math.max(0, begin - asked[i]), Math.max(0, ready - asked[i]), compute,
                    used[i] - asked[i], null);
        }
        return expected;
    }

    static void theDevicesClockTellsWhatEachBatchTook() {
        for (long compute : new long[] {1, 2, 5}) {
            CudaSimulator.setNow(0);
            CudaSimulator.setSpeed(0, 2 * UNIT_MICROS);
            try (var trainer = new SimulatedTrainer(0);
                    DataLoader loader = trainer.loader().deviceSlots(SLOTS).withDeviceClock().open()) {
                List<BatchAccount> accounts = train(loader, trainer, 40, compute);
                OnDevice[] expected = expected(40, 2 * UNIT, compute * UNIT);
                List<BatchAccount> timed = accounts.stream().filter(account -> account.onDevice() != null).toList();
                assertTrue(timed.size() > 20, timed.size() + " of 40 batches are timed");
                for (BatchAccount account : timed.subList(0, timed.size() - 1)) {
                    assertEquals(expected[(int) account.sequence()], account.onDevice(), "batch " + account.sequence());
                    assertEquals(2 * UNIT, account.copyNanos());
                }
            }
        }
    }

    /** Lets time pass on the device and on the host while a batch is made. */
    private record Slow(Collator inner, long units, AtomicLong now) implements Collator {
        @Override
        public SlabLayout layout(Dataset dataset, int batchSize) {
            return inner.layout(dataset, batchSize);
        }

        @Override
        public void collate(BatchReader in, BatchPlan plan, Slab out) {
            CudaSimulator.hostUses(out.segment(), true);
            now.set((plan.number() + 1) * units * UNIT);
            CudaSimulator.setNow(now.get());
            inner.collate(in, plan, out);
        }
    }

    /** The stream has nothing to do while the trainer's thread makes the next batch for itself. */
    static void aStallBeforeTheCopyBeginsIsTheLoaders() {
        CudaSimulator.setNow(0);
        CudaSimulator.setSpeed(0, UNIT_MICROS);
        var now = new AtomicLong();
        try (var trainer = new SimulatedTrainer(0)) {
            var settings = trainer.loader().collator(new Slow(Stack.fields(), 10, now)).workers(0).withDeviceClock();
            settings.nanoTime = now::get;
            aStallBeforeTheCopyBeginsIsTheLoaders(settings, trainer);
        }
    }

    private static void aStallBeforeTheCopyBeginsIsTheLoaders(DataLoaderBuilder settings, SimulatedTrainer trainer) {
        try (DataLoader loader = settings.open(); Diagnosis diagnosis = Diagnosis.of(loader)) {
            for (BatchAccount account : train(loader, trainer, 30, 4)) {
                if (account.onDevice() != null && account.onDevice().stepNanos() >= 0) {
                    long idle = account.sequence() == 0 ? 10 : 5;
                    assertEquals(new OnDevice(UNIT, 0, idle * UNIT, (idle + 1) * UNIT, 4 * UNIT, (idle + 5) * UNIT,
                                    null),
                            account.onDevice(), "batch " + account.sequence());
                }
            }
            Summary summary = diagnosis.summary();
            assertEquals("gpu", summary.clock());
            assertEquals(0.5, finding(summary, Verdict.INPUT_BOUND).score(), 1e-6);
            assertEquals("collate", finding(summary, Verdict.INPUT_BOUND).evidence().get("cause"));
            assertEquals(0.6, finding(summary, Verdict.DEVICE_IDLE).score(), 1e-6);
            assertEquals(0.1, finding(summary, Verdict.H2D_BOUND).score(), 1e-6);
        }
    }

    private static Finding finding(Summary summary, Verdict verdict) {
        return summary.findings().stream().filter(found -> found.verdict() == verdict).findFirst()
                .orElseThrow(() -> new AssertionError(verdict + ": found " + summary.findings()));
    }

    /** The trainer's thread is far ahead of its stream and never waits for a copy: only the device's clock sees it. */
    static void copiesThatTheStreamWaitsForBoundTheStep() {
        CudaSimulator.setNow(0);
        CudaSimulator.setSpeed(0, 4 * UNIT_MICROS);
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader().deviceSlots(SLOTS).withDeviceClock().open();
                Diagnosis diagnosis = Diagnosis.of(loader)) {
            train(loader, trainer, 60, 1);
            Summary summary = diagnosis.summary();
            assertEquals("gpu", summary.clock());
            assertEquals(0.75, finding(summary, Verdict.H2D_BOUND).score(), 1e-6);
            assertEquals(0.25, summary.input().onDevice().overlap(), 1e-6);
            assertEquals(0.5, summary.input().onDevice().copyMillis().p50());
        }
    }

    static void copiesThatWorkHidesAreNoFinding() {
        CudaSimulator.setNow(0);
        CudaSimulator.setSpeed(0, 4 * UNIT_MICROS);
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader().deviceSlots(SLOTS).withDeviceClock().open();
                Diagnosis diagnosis = Diagnosis.of(loader)) {
            train(loader, trainer, 60, 5);
            Summary summary = diagnosis.summary();
            var verdicts = summary.findings().stream().map(Finding::verdict).collect(Collectors.toSet());
            assertEquals("gpu", summary.clock());
            assertTrue(verdicts.contains(Verdict.COMPUTE_BOUND), verdicts.toString());
            assertTrue(Stream.of(Verdict.H2D_BOUND, Verdict.INPUT_BOUND, Verdict.DEVICE_IDLE)
                    .noneMatch(verdicts::contains), verdicts.toString());
            assertEquals(1, summary.input().onDevice().overlap());
        }
    }

    /** One batch a step: forward, backward, optimizer, and work that is not marked, of so many units each. */
    private static void marked(Diagnosis diagnosis, SimulatedTrainer trainer, Batch batch, long... units) {
        List<Phase> phases = List.of(Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER);
        for (int i = 0; i < phases.size(); i++) {
            diagnosis.begin(phases.get(i));
            trainer.compute(batch, trainer.stream, units[i] * UNIT_MICROS);
        }
        diagnosis.end();
        trainer.compute(batch, trainer.stream, units[phases.size()] * UNIT_MICROS);
    }

    static void phasesThatTheTrainerMarksAreTimedOnItsStream() {
        CudaSimulator.setNow(0);
        CudaSimulator.setSpeed(0, UNIT_MICROS);
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader().deviceSlots(SLOTS).withDeviceClock().open();
                Diagnosis diagnosis = Diagnosis.of(loader)) {
            for (int i = 0; i < 60; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    marked(diagnosis, trainer, batch, 2, 5, 1, 2);
                }
            }
            List<OnDevice> clocks = clocks(loader);
            assertTrue(clocks.size() > 40, clocks.size() + " of 60 batches are timed");
            for (OnDevice clock : clocks) {
                assertEquals(new Marked(0, 2 * UNIT, 5 * UNIT, UNIT), clock.marked());
                assertEquals(10 * UNIT, clock.computeNanos());
            }
            Summary summary = diagnosis.summary();
            RankSteps rank = summary.ranks().getFirst();
            assertEquals("gpu", summary.clock());
            assertEquals(2 * UNIT / 1e6, rank.forwardMillis(), 1e-9);
            assertEquals(5 * UNIT / 1e6, rank.backwardMillis(), 1e-9);
            assertEquals(UNIT / 1e6, rank.optimizerMillis(), 1e-9);
            assertEquals(8 * UNIT / 1e6, rank.computeMillis(), 1e-9);
            assertEquals(0.2, finding(summary, Verdict.RESIDUAL_HEAVY).score(), 1e-6);
        }
    }

    private static List<OnDevice> clocks(DataLoader loader) {
        return loader.accounts().orElseThrow().since(0).stream().flatMap(account -> Stream.ofNullable(
                account.onDevice())).toList();
    }

    /** A phase that goes on when the batch is closed ends there, and what is marked behind that is not recorded. */
    static void marksEndWhenTheBatchIsClosed() {
        CudaSimulator.setNow(0);
        CudaSimulator.setSpeed(0, UNIT_MICROS);
        try (var trainer = new SimulatedTrainer(0);
                DeviceBuffer weights = trainer.device.allocate(256);
                DataLoader loader = trainer.loader(new ByteRows(800, 16)).deviceSlots(SLOTS).endEpoch(1)
                        .withDeviceClock().open();
                Diagnosis diagnosis = Diagnosis.of(loader)) {
            for (int i = 0; i < 100; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    diagnosis.begin(Phase.COMPUTE);
                    trainer.compute(batch, trainer.stream, 3 * UNIT_MICROS);
                }
                diagnosis.begin(Phase.OPTIMIZER);
                CudaSimulator.launchReader(trainer.stream.handle(), weights.address(), 256, 2 * UNIT_MICROS);
                diagnosis.end();
            }
            trainer.stream.synchronize();
            clocks(loader).forEach(clock -> assertEquals(new Marked(3 * UNIT, 0, 0, 0), clock.marked()));
            assertEquals((5 + 1) * 100, CudaSimulator.calls("cudaEventRecord"));
        }
    }

    static void aBatchWithTooManyMarksHasNoPhases() {
        CudaSimulator.setNow(0);
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader().deviceSlots(SLOTS).withDeviceClock().open();
                Diagnosis diagnosis = Diagnosis.of(loader)) {
            for (int i = 0; i < 40; i++) {
                try (Batch batch = loader.next(trainer.stream)) {
                    for (int mark = 0; mark < 7 + i % 3; mark++) {
                        diagnosis.begin(Phase.FORWARD);
                        trainer.compute(batch, trainer.stream, UNIT_MICROS);
                    }
                }
            }
            for (BatchAccount account : loader.accounts().orElseThrow().since(0)) {
                long marks = 7 + account.sequence() % 3;
                if (account.onDevice() != null) {
                    assertEquals(marks > 8 ? null : new Marked(0, marks * UNIT, 0, 0), account.onDevice().marked());
                }
            }
        }
    }

    /** Batches are closed by another thread while this one marks: the simulation would see a mark behind a close. */
    static void marksAndAnotherThreadsCloseExcludeEachOther() throws InterruptedException {
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader().deviceSlots(SLOTS).leases(LeaseMode.SHARED).withDeviceClock()
                        .open();
                Diagnosis diagnosis = Diagnosis.of(loader)) {
            for (int i = 0; i < 300; i++) {
                Batch batch = loader.next(trainer.stream);
                Thread closer = Thread.ofPlatform().start(batch::close);
                for (int mark = 0; mark < 6; mark++) {
                    diagnosis.begin(mark % 2 == 0 ? Phase.FORWARD : Phase.BACKWARD);
                }
                closer.join();
            }
        }
    }

    static void withoutAStreamOnlyCopiesAreTimed() {
        CudaSimulator.setNow(0);
        CudaSimulator.setSpeed(0, UNIT_MICROS);
        try (var trainer = new SimulatedTrainer(0);
                DataLoader loader = trainer.loader().withDeviceClock().open();
                Diagnosis diagnosis = Diagnosis.of(loader)) {
            for (int i = 0; i < 20; i++) {
                loader.next().close();
            }
            BatchAccount account = loader.accounts().orElseThrow().since(0).getFirst();
            assertEquals(new OnDevice(UNIT, 0, -1, -1, -1, -1, null), account.onDevice());
            assertEquals("cpu", diagnosis.summary().clock());
            assertNull(diagnosis.summary().input().onDevice());
        }
    }

    /** Beside the protocol's own calls: two records a batch, one a mark, and times of what is known to have ended. */
    static void timingWaitsForNothing() {
        List<String> calls = List.of("cudaEventSynchronize", "cudaStreamSynchronize", "cudaStreamWaitEvent",
                "cudaMemcpyAsync", "cudaEventRecord");
        List<List<Long>> counts = IntStream.range(0, 3).mapToObj(kind -> {
            CudaSimulator.reset();
            try (var trainer = new SimulatedTrainer(0)) {
                var settings = trainer.loader(new ByteRows(800, 16)).endEpoch(1);
                try (DataLoader loader = kind > 0 ? settings.withDeviceClock().open() : settings.open();
                        Diagnosis diagnosis = Diagnosis.of(loader)) {
                    while (loader.hasNext()) {
                        try (Batch batch = loader.next(trainer.stream)) {
                            if (kind != 1) {                    // marks without the clock cost the device nothing
                                marked(diagnosis, trainer, batch, 0, 0, 0, 0);
                            }
                        }
                    }
                    assertEquals(kind > 0, CudaSimulator.calls("cudaEventElapsedTime") > 0);
                    return calls.stream().map(CudaSimulator::calls).toList();
                }
            }
        }).toList();
        assertEquals(counts.get(0).subList(0, 4), counts.get(1).subList(0, 4), calls.toString());
        assertEquals(counts.get(0).subList(0, 4), counts.get(2).subList(0, 4), calls.toString());
        assertEquals(List.of(3 * 100L, 5 * 100L, (5 + 4) * 100L), counts.stream().map(List::getLast).toList());
    }

    static void timingCreatesNothingAfterTheStart() {
        List<String> calls = List.of("cudaMalloc", "cudaHostAlloc", "cudaFree", "cudaFreeHost",
                "cudaStreamCreateWithFlags", "cudaEventCreateWithFlags", "cudaEventDestroy", "cudaSetDevice");
        try (var trainer = new SimulatedTrainer(0); DataLoader loader = trainer.loader().withDeviceClock().open()) {
            loader.next(trainer.stream).close();            // now its threads have started
            loader.next().close();
            List<Long> before = calls.stream().map(CudaSimulator::calls).toList();
            for (int i = 0; i < 500; i++) {
                if (i % 100 == 50) {
                    loader.seek(i);
                }
                loader.next(i % 5 == 0 ? null : trainer.stream).close();
            }
            assertEquals(before, calls.stream().map(CudaSimulator::calls).toList(), calls.toString());
        }
    }
}
