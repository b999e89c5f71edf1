// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.diagnose.Summary.Prediction;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.LoaderReport.Downloads;
import io.penstock.telemetry.LoaderReport.PartTime;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Predictions against the same loader and trainer, played through with the other settings. */
class WhatIfTest {

    private static double samplesPerSecond(Scenario scenario) {
        return Diagnoses.summary(scenario.play()).input().samplesPerSecond();
    }

    private static Scenario random(long seed, int workers, int hostSlots, int deviceSlots) {
        var random = new Random(seed);
        var scenario = new Scenario();
        scenario.batches = 400;
        int[] costs = random.ints(2L * scenario.batches, 0, 1 + random.nextInt(9_000)).toArray();
        scenario.workers = workers;
        scenario.hostSlots = hostSlots;
        scenario.deviceSlots = deviceSlots;
        scenario.decode = i -> costs[i];
        scenario.hold = i -> 1_000 + costs[scenario.batches + i] / 10;
        return scenario;
    }

    @Test
    void predictsWhatOtherSettingsDoWithinFivePercent() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        var random = new Random(seed);
        for (int round = 0; round < 30; round++) {
            long costs = random.nextLong();
            int deviceSlots = random.nextBoolean() ? 0 : 3;
            int workers = 1 + random.nextInt(3);
            Recording recording = random(costs, workers, workers + 4, deviceSlots).play();
            int other = 1 + random.nextInt(6);
            int slots = other + 1 + random.nextInt(12);
            Prediction prediction = new WhatIf(recording).predict("other",
                    new WhatIf.Setting(other, slots, deviceSlots, WhatIf.Reading.AS_IS));
            double actual = samplesPerSecond(random(costs, other, slots, deviceSlots));
            assertTrue(prediction.trusted(), prediction.toString());
            assertEquals(actual, prediction.samplesPerSecond(), 0.05 * actual,
                    "round " + round + ": " + workers + " to " + other + " workers, " + prediction);
        }
    }

    @Test
    void theFirstPredictionIsOfTheSettingsAsTheyAre() {
        var scenario = new Scenario();
        scenario.decode = _ -> 8_000;
        Recording recording = scenario.play();
        Prediction first = new WhatIf(recording).predictions().getFirst();
        assertEquals("none", first.change());
        assertEquals(0, first.gain());
        assertTrue(first.errorShare() < 0.01, first.toString());
        assertEquals("workers", first.limit());
    }

    @Test
    void aRunThatTheReplayCannotExplainIsNotTrusted() {
        var scenario = random(2, 2, 6, 0);
        Recording played = scenario.play();
        // Making is recorded as longer than it can have been: two workers give more than two workers' time.
        Recording strange = new Recording(played.settings(), played.accounts().stream().map(account ->
                new BatchAccount(account.sequence(), account.epoch(), account.first(),
                        account.samples(), account.bytes(), new BatchAccount.Making(
                                account.making().worker(), account.making().madeAt() - 30_000_000,
                                account.making().madeAt() - 30_000_000, account.making().madeAt() - 30_000_000,
                                account.making().madeAt(), 0, 0, 0, 0, 0, null, null),
                        null, account.taking(), null)).toList(), List.of(), null, played.machine(), List.of(),
                Downloads.NONE, 1);
        Prediction first = new WhatIf(strange).predictions().getFirst();
        assertFalse(first.trusted(), first.toString());
        assertTrue(SummaryText.of(Diagnoses.summary(strange)).contains("not trusted"));
    }

    @Test
    void coresAndStorageCapWhatMoreWorkersGive() {
        var storage = new Scenario();
        storage.read = _ -> 8_000;
        storage.blocked = _ -> 7_900;
        storage.diskBytes = _ -> 1 << 20;
        Prediction four = new WhatIf(storage.play()).predict("workers 4",
                new WhatIf.Setting(4, 12, 0, WhatIf.Reading.AS_IS));
        assertEquals("storage", four.limit(), four.toString());
        assertTrue(four.gain() < 0.1, four.toString());
        var cores = new Scenario();
        cores.workers = 7;
        cores.hostSlots = 16;
        cores.decode = _ -> 40_000;
        Prediction many = new WhatIf(cores.play()).predict("workers 16",
                new WhatIf.Setting(16, 40, 0, WhatIf.Reading.AS_IS));
        assertEquals("cores", many.limit(), many.toString());
        assertEquals(8.0 / 7 - 1, many.gain(), 0.03, many.toString());
    }

    /** A page of code that is loaded from storage, in every tenth batch, says nothing of how fast storage can be. */
    @Test
    void storageThatIsHardlyUsedLimitsNothing() {
        var scenario = new Scenario();
        scenario.read = _ -> 100;
        scenario.blocked = _ -> 20;
        scenario.diskBytes = i -> i % 10 == 0 ? 4096 : 0;
        scenario.decode = _ -> 8_000;
        scenario.transform = _ -> 2_000;
        scenario.hold = _ -> 1_000;
        scenario.parts = List.of(new PartTime("decode", 240_000_000), new PartTime("horizontalFlip", 60_000_000));
        WhatIf whatIf = new WhatIf(scenario.play());
        Prediction four = whatIf.predict("workers 4", new WhatIf.Setting(4, 12, 0, WhatIf.Reading.AS_IS));
        assertEquals("workers", four.limit(), four.toString());
        assertEquals(1, four.gain(), 0.05, four.toString());
        // A batch takes 10.4 ms of one of two workers; without decoding and maps, the trainer's 1 ms is the limit.
        assertEquals(WhatIf.MAX_GAIN, whatIf.gain(WhatIf.Reading.OFFLINE));
        assertEquals("unknown", whatIf.predict("", new WhatIf.Setting(2, 6, 0, WhatIf.Reading.OFFLINE)).limit());
    }

    @Test
    void coresThatOtherProgramsHaveAreNotThereForMoreWorkers() {
        var scenario = new Scenario();
        scenario.decode = _ -> 20_000;
        scenario.blocked = _ -> 16_000;
        scenario.queued = _ -> 16_000;
        Prediction four = new WhatIf(scenario.play()).predict("workers 4",
                new WhatIf.Setting(4, 12, 0, WhatIf.Reading.AS_IS));
        assertEquals("cores", four.limit(), four.toString());
        assertEquals(0, four.gain(), 0.01, four.toString());
        scenario.queued = _ -> 0;
        assertEquals(1, new WhatIf(scenario.play()).predict("workers 4",
                new WhatIf.Setting(4, 12, 0, WhatIf.Reading.AS_IS)).gain(), 0.05, "a sleeping decoder needs no core");
    }

    @Test
    void fewStepsPredictNothing() {
        var scenario = new Scenario();
        scenario.decode = _ -> 8_000;
        scenario.batches = WhatIf.MIN_STEPS;        // the first one does not count
        assertEquals(List.of(), new WhatIf(scenario.play()).predictions());
        assertTrue(Double.isNaN(new WhatIf(scenario.play()).gain(WhatIf.Reading.OFFLINE)));
        assertTrue(Diagnoses.summary(scenario.play()).text().contains("What if: nothing is predicted"));
        scenario.batches++;
        assertFalse(new WhatIf(scenario.play()).predictions().isEmpty());
    }
}
