// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.recording.LoaderProbe.EpochBounds;
import io.penstock.telemetry.recording.Telemetry.LoaderIdentity;
import io.penstock.telemetry.recording.Telemetry.SlotLevels;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What is told to a probe is what can be read of the telemetry, and telling costs nothing on the heap. */
class TelemetryTest {

    private static final LoaderIdentity COPIES = new LoaderIdentity("told", "device", 2, true, true);
    private static final LoaderIdentity LENDS = new LoaderIdentity("told", "host", 2, false, false);
    private static final EpochBounds ONE_EPOCH = sequence -> sequence == 0;
    private static final int SLOTS = 4;
    private static final int STEPS = 200_000;

    /** Slots of which a batch is made as soon as it is asked about; counts the looks. */
    private static final class Levels implements SlotLevels {
        private final AtomicInteger looks = new AtomicInteger();

        @Override
        public int size() {
            return SLOTS;
        }

        @Override
        public int empty() {
            return 1;
        }

        @Override
        public int madeFrom(long sequence) {
            looks.incrementAndGet();
            return 2;
        }

        @Override
        public boolean isMadeWith(long sequence) {
            return true;
        }
    }

    private long now;
    private final Levels levels = new Levels();

    private static void fill(LoaderProbe probe, Filling batch, long sequence, long at) {
        batch.sequence = sequence;
        batch.claimedAt = at;
        batch.slotAt = at + 1;
        batch.plannedAt = at + 1;
        probe.claimed(batch);
        batch.plannedAt = at + 3;
        probe.planned(batch);
        batch.epoch = 7;
        batch.first = sequence == 0;
        batch.samples = 5;
        batch.bytes = 640;
        batch.readNanos = 11;
        batch.decodeNanos = 12;
        batch.transformNanos = 13;
        batch.madeAt = at + 100;
        probe.filled(batch);
    }

    private void step(LoaderProbe probe, Filling batch, long sequence, long at) {
        fill(probe, batch, sequence, at);
        probe.reached(sequence);
        probe.submitted(sequence, batch.bytes, at + 110, at + 120);
        now = at + 130;
        probe.arrived(sequence);
        probe.requested(sequence, ONE_EPOCH);
        probe.taken(sequence, at + 90, at + 140, batch.samples, 1);
        now = at + 200;
        probe.closed(sequence);
    }

    @Test
    void aBatchsAccountIsWhatWasToldOfIt() {
        try (Telemetry telemetry = Telemetry.accounting(COPIES, () -> 9, levels, () -> now)) {
            step(telemetry.probe(), new Filling(1), 0, 1000);
            assertEquals(List.of(new BatchAccount(0, 7, true, 5, 640,
                    new BatchAccount.Making(1, 1000, 1001, 1003, 1100, 11, 12, 13, 0, 0, null, null),
                    new BatchAccount.Copying(1110, 1120, 1130),
                    new BatchAccount.Taking(1090, 1140, 1200, BatchAccount.NOT_MEASURED, 2, 1), null)),
                    telemetry.accounts().orElseThrow().since(0));
        }
    }

    @Test
    void totalsAreTheSameWhetherAccountsAreKeptOrNot() {
        try (Telemetry counting = Telemetry.counting(COPIES, () -> 9);
                Telemetry accounting = Telemetry.accounting(COPIES, () -> 9, levels, () -> now)) {
            for (Telemetry telemetry : List.of(counting, accounting)) {
                Filling worker = new Filling(0);
                Filling other = new Filling(1);
                step(telemetry.probe(), worker, 0, 1000);
                step(telemetry.probe(), other, 1, 2000);
                telemetry.probe().notTaken(5);
                assertEquals(new LoaderReport(2, 10, 1280, 4, 194, 2, 0, 0, 20, 105, 2, 9, List.of(),
                        LoaderReport.Downloads.NONE), telemetry.report());
            }
            assertTrue(counting.accounts().isEmpty());
        }
    }

    @Test
    void partsOfTheWorkAreAddedByNameOverThreadsAndBatches() {
        try (Telemetry telemetry = Telemetry.counting(COPIES, () -> 0)) {
            Filling worker = new Filling(0);
            worker.parts = List.of("decode", "flip");
            worker.partNanos = new long[] {3, 4};
            fill(telemetry.probe(), worker, 0, 1000);
            LoaderReport first = telemetry.report();
            fill(telemetry.probe(), worker, 1, 2000);
            Filling other = new Filling(1);
            other.parts = List.of("flip", "decode", "flip");
            other.partNanos = new long[] {10, 20, 30};
            fill(telemetry.probe(), other, 2, 3000);
            assertEquals(List.of(new LoaderReport.PartTime("decode", 26), new LoaderReport.PartTime("flip", 48)),
                    telemetry.report().parts());
            assertEquals(List.of(new LoaderReport.PartTime("decode", 23), new LoaderReport.PartTime("flip", 44)),
                    telemetry.report().since(first).parts());
        }
    }

    @Test
    void theTrainersThreadIsTheOnlyFillerWhereThereAreNoWorkers() {
        var alone = new LoaderIdentity("told", "host", 0, false, false);
        try (Telemetry telemetry = Telemetry.counting(alone, () -> 0)) {
            fill(telemetry.probe(), new Filling(0), 0, 0);
            assertEquals(97, telemetry.report().collateNanos());
        }
    }

    /** A batch that was there already is waited for not at all, however much later the clock is looked at. */
    @Test
    void aBatchThatWasThereIsTakenWhenItWasAskedFor() {
        try (Telemetry telemetry = Telemetry.accounting(LENDS, () -> 0, levels, () -> now)) {
            fill(telemetry.probe(), new Filling(0), 0, 1000);
            telemetry.probe().requested(0, ONE_EPOCH);
            now = 5000;
            telemetry.probe().taken(0, BatchAccount.NOT_MEASURED, BatchAccount.NOT_MEASURED, 5, 0);
            telemetry.probe().closed(0);
            BatchAccount account = telemetry.accounts().orElseThrow().since(0).getFirst();
            assertEquals(5000, account.taking().takenAt());
            assertEquals(0, account.taking().waitNanos());
            assertEquals(0, telemetry.report().consumerWaitNanos());
        }
    }

    /** An account of every step would cost some percent of a quick one. */
    @Test
    void quickStepsHaveAnAccountInBurstsAlone() {
        try (Telemetry telemetry = Telemetry.accounting(COPIES, () -> 0, levels, () -> now)) {
            Filling batch = new Filling(0);
            long last = 4L * BatchAccounts.PERIOD;
            for (long s = 0; s < last; s++) {
                step(telemetry.probe(), batch, s, 1000 * s);
            }
            List<Long> kept = telemetry.accounts().orElseThrow().since(last - BatchAccounts.PERIOD).stream()
                    .map(BatchAccount::sequence).toList();
            assertEquals(BatchAccounts.BURST, kept.size());
            assertEquals(last - BatchAccounts.PERIOD, kept.getFirst());
            assertEquals(last - BatchAccounts.PERIOD + BatchAccounts.BURST - 1, kept.getLast());
        }
    }

    /** Reading how full the slots are takes cache lines away from the workers. */
    @Test
    void slotsAreLookedAtNowAndThenOrAfterALongWait() {
        try (Telemetry telemetry = Telemetry.accounting(COPIES, () -> 0, levels, () -> now)) {
            Filling batch = new Filling(0);
            for (long s = 0; s < 32; s++) {
                step(telemetry.probe(), batch, s, 1_000_000 * s);
            }
            assertEquals(2, levels.looks.get());
            telemetry.probe().taken(33, 0, 1_000_000, 5, 0);
            assertEquals(3, levels.looks.get());
        }
    }

    @Test
    void aStepThatIsToldTakesNoHeap() {
        assertEquals(0, bytesOfSteps(LoaderProbe.NONE));
        try (Telemetry counting = Telemetry.counting(COPIES, () -> 0);
                Telemetry accounting = Telemetry.accounting(COPIES, () -> 0, levels, () -> now)) {
            assertEquals(0, bytesOfSteps(counting.probe()));
            assertEquals(0, bytesOfSteps(accounting.probe()));
        }
    }

    /** The bytes that a run of steps took, by whole bytes a step: what the JVM itself does now and then is less. */
    private long bytesOfSteps(LoaderProbe probe) {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Filling batch = new Filling(0);
        for (int s = 0; s < STEPS / 10; s++) {
            step(probe, batch, s, 100_000L * s);
        }
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int s = 0; s < STEPS; s++) {
            step(probe, batch, STEPS + s, 100_000L * s);
        }
        return (threads.getCurrentThreadAllocatedBytes() - before) / STEPS;
    }

    @Test
    void whatAnAccountCostsIsMeasured() {
        assertTrue(BatchAccounts.nanosPerBatch() > 0);
    }
}
