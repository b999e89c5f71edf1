// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.telemetry.BatchAccount;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AttributionTest {

    private static final int TICK = 1_000;

    @Test
    void causesAreThoseThatGoingThroughEveryMicrosecondFinds() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        var random = new Random(seed);
        int counted = 0;
        for (int round = 0; round < 60; round++) {
            Recording recording = random(random);
            List<Wait> waits = Attribution.of(recording);
            for (int i = 0; i < waits.size(); i++) {
                Wait wait = waits.get(i);
                assertEquals(wait.nanos(), Arrays.stream(wait.byCause()).sum(), "wait " + i);
                if (wait.counts()) {
                    double[] expected = tickByTick(recording, i);
                    counted++;
                    for (Cause cause : Cause.values()) {
                        assertEquals(expected[cause.ordinal()], wait.nanos(cause), 0.01 * wait.nanos() + 2,
                                "round " + round + ", batch " + i + ", " + cause);
                    }
                }
            }
        }
        assertTrue(counted > 500, "only " + counted + " waits of length");
    }

    private static Recording random(Random random) {
        var scenario = new Scenario();
        scenario.batches = 40;
        scenario.workers = 1 + random.nextInt(4);
        scenario.hostSlots = scenario.workers + 1 + random.nextInt(6);
        scenario.deviceSlots = random.nextBoolean() ? 0 : 2 + random.nextInt(2);
        int slow = 1 + random.nextInt(600);
        int[] costs = random.ints(6 * scenario.batches, 0, slow).toArray();
        scenario.plan = i -> costs[6 * i] / 20;
        scenario.read = i -> costs[6 * i + 1];
        scenario.decode = i -> costs[6 * i + 2];
        scenario.transform = i -> costs[6 * i + 3] / 3;
        scenario.collate = i -> costs[6 * i + 4];
        scenario.blocked = i -> costs[6 * i + 1] / 2;
        scenario.diskBytes = i -> costs[6 * i] % 2 * 4096;
        scenario.involuntary = i -> costs[6 * i] % 3;
        scenario.copy = i -> costs[6 * i + 5] / 2;
        scenario.hold = i -> costs[6 * i + 5];
        long at = 1_000_000_000L;
        for (int p = 0; p < 10; p++) {
            at += (1 + random.nextInt(2000)) * (long) TICK;
            long end = at + random.nextInt(200) * (long) TICK;
            scenario.pauses.add(new Recording.Stretch(at, end));
            at = end;
        }
        return scenario.play();
    }

    /** What the batch was doing in each microsecond, one by one. */
    private static double[] tickByTick(Recording recording, int index) {
        BatchAccount account = recording.accounts().get(index);
        MakingMix mix = MakingMix.of(account.making(), recording.pauses());
        double[] sums = new double[Cause.values().length];
        for (long t = account.taking().requestedAt(); t < account.taking().takenAt(); t += TICK) {
            long now = t;
            if (recording.pauses().stream().anyMatch(pause -> pause.beginAt() <= now && now < pause.endAt())) {
                sums[Cause.GC.ordinal()] += TICK;
            } else if (now < account.making().madeAt() && anotherWaitsForASlot(recording, index, now)) {
                sums[Cause.ORDER.ordinal()] += TICK;
            } else if (now >= account.making().plannedAt() && now < account.making().madeAt()) {
                for (Cause cause : Cause.values()) {
                    sums[cause.ordinal()] += TICK * mix.share(cause);
                }
            } else {
                sums[doing(recording, index, now).ordinal()] += TICK;
            }
        }
        return sums;
    }

    private static boolean anotherWaitsForASlot(Recording recording, int index, long now) {
        for (int i = index + 1; i < recording.accounts().size(); i++) {
            BatchAccount.Making other = recording.accounts().get(i).making();
            if (other.worker() != recording.accounts().get(index).making().worker()
                    && other.claimedAt() <= now && now < other.slotAt()) {
                return true;
            }
        }
        return false;
    }

    private static Cause doing(Recording recording, int index, long now) {
        BatchAccount account = recording.accounts().get(index);
        BatchAccount.Making made = account.making();
        if (now < made.plannedAt()) {
            return now < made.claimedAt() ? Cause.START : now < made.slotAt() ? Cause.SLOT : Cause.PLAN;
        }
        BatchAccount.Copying copied = account.copying();
        if (copied == null || now >= copied.arrivedAt()) {
            return Cause.HANDOVER;
        }
        if (now >= copied.submitAt()) {
            return Cause.COPY;
        }
        int before = index - recording.settings().memory().deviceSlots();
        boolean slotTaken = before >= 0 && now < recording.accounts().get(before).taking().closedAt();
        return slotTaken ? Cause.SLOT : Cause.HANDOVER;
    }

    @Test
    void waitsOfTheTrainerAndNotThoseOfWorkersAreStarvation() {
        var healthy = new Scenario();
        Recording recording = healthy.play();
        long slotWaits = recording.accounts().stream()
                .mapToLong(account -> account.making().slotAt() - account.making().claimedAt()).sum();
        assertTrue(slotWaits > 100_000_000L, "workers should have waited for slots: " + slotWaits);
        long[] causes = Wait.sum(Attribution.of(recording).subList(1, healthy.batches).stream());
        assertEquals(0, Arrays.stream(causes).sum());
    }

    @Test
    void aBatchThatOthersStandReadyBehindIsWaitedForByOrder() {
        var scenario = new Scenario();
        scenario.decode = i -> i % 20 == 10 ? 40_000 : 0;
        List<Wait> waits = Attribution.of(scenario.play());
        Wait slow = waits.get(30);
        assertTrue(slow.nanos(Cause.ORDER) > 0.8 * slow.nanos(), slow.toString());
        assertEquals(Cause.DECODE, Wait.largest(slow.orderedBehind()));
    }

    @Test
    void aLoneWorkerIsNeverHeldUpByOrder() {
        var scenario = new Scenario();
        scenario.workers = 1;
        scenario.decode = i -> i % 20 == 10 ? 40_000 : 0;
        List<Wait> waits = Attribution.of(scenario.play());
        assertEquals(0, waits.get(30).nanos(Cause.ORDER));
        assertTrue(waits.get(30).nanos(Cause.DECODE) > 0.9 * waits.get(30).nanos());
    }

    @Test
    void shortWaitsAreHandOver() {
        List<Wait> waits = new ArrayList<>(Attribution.of(new Scenario().play()));
        assertEquals(1_000, waits.get(50).nanos());
        assertEquals(1_000, waits.get(50).nanos(Cause.HANDOVER));
    }
}
