// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.diagnose.Steps.Step;
import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Marked;
import io.penstock.telemetry.BatchAccount.OnDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A diagnosis is by one clock: the device's where it measured every step, else the thread's. */
class DeviceClockTest {

    private static Recording played() {
        var scenario = new Scenario();
        scenario.deviceSlots = 3;
        scenario.timed = true;
        scenario.workers = 1;
        scenario.collate = _ -> 8_000;
        scenario.hold = _ -> 2_000;
        scenario.marks = new Recording.PhaseMarks(200, 1_000_000, 2_000_000, 3_000_000);
        return scenario.play();
    }

    private static Recording untimed(Recording played, LongPredicate which) {
        List<BatchAccount> accounts = new ArrayList<>();
        for (BatchAccount of : played.accounts()) {
            accounts.add(which.test(of.sequence()) ? withClock(of, null) : of);
        }
        return with(played, accounts);
    }

    private static Recording with(Recording played, List<BatchAccount> accounts) {
        return new Recording(played.settings(), accounts, played.pauses(), played.marks(), played.machine(),
                played.parts(), played.downloads(), played.samples());
    }

    private static BatchAccount withClock(BatchAccount of, OnDevice clock) {
        return new BatchAccount(of.sequence(), of.epoch(), of.first(), of.samples(), of.bytes(), of.making(),
                of.copying(), of.taking(), clock);
    }

    private static void assertClock(String clock, int steps, Recording recording) {
        Summary summary = Diagnoses.summary(recording);
        assertEquals(clock, summary.clock());
        assertEquals(steps, new Facts(recording).steps.size());
        assertEquals(clock.equals("gpu"), summary.input().onDevice() != null);
    }

    @Test
    void theDevicesClockCountsIfItMeasuredEveryStepButTheLatest() {
        assertClock("gpu", 200, played());
        assertClock("gpu", 194, untimed(played(), sequence -> sequence >= 194));
        assertClock("cpu", 200, untimed(played(), sequence -> sequence == 100));
        assertClock("cpu", 200, untimed(played(), sequence -> sequence >= 99));
        assertClock("cpu", 200, untimed(played(), _ -> true));
    }

    @Test
    void whatTheThreadMeasuredIsNotMixedIn() {
        Summary byDevice = Diagnoses.summary(played());
        assertEquals(Double.NaN, byDevice.ranks().getFirst().forwardMillis());
        Summary byThread = Diagnoses.summary(untimed(played(), _ -> true));
        assertEquals(1.0 / 200, byThread.ranks().getFirst().forwardMillis());
        assertNull(byThread.input().onDevice());
        assertEquals(byThread.ranks().getFirst().fetchMillis(), byDevice.ranks().getFirst().fetchMillis(), 1e-3);
    }

    @Test
    void aStallBeforeTheCopyHasTheThreadsCausesAndTheRestIsTheCopy() {
        List<BatchAccount> accounts = played().accounts().stream().map(of -> withClock(of, new OnDevice(400_000,
                100_000, 1_000_000, 1_500_000, 2_000_000, 4_000_000, null))).toList();
        List<Step> steps = new Facts(with(played(), accounts)).steady;
        for (Step step : steps.subList(0, steps.size() - 1)) {      // of the last one, no end is known
            assertEquals(500_000, step.h2dNanos(), 10);
            assertEquals(1_000_000, step.inputNanos(), 10);
            assertEquals(Cause.COLLATE, step.waiting().largest());
            assertEquals(500_000, step.residualNanos());
        }
    }

    @Test
    void aStallOfABatchThatTheThreadDidNotWaitForIsTheCopys() {
        var healthy = new Scenario();
        healthy.deviceSlots = 3;
        Recording played = healthy.play();
        List<BatchAccount> accounts = played.accounts().stream().map(of -> withClock(of, new OnDevice(400_000, 0,
                300_000, 700_000, 2_000_000, 2_700_000, null))).toList();
        for (Step step : new Facts(with(played, accounts)).steady) {
            assertEquals(700_000, step.h2dNanos());
        }
    }

    private static Summary summary(Recording played, OnDevice clock) {
        return Diagnoses.summary(with(played, played.accounts().stream().map(of -> withClock(of, clock)).toList()));
    }

    @Test
    void marksOnTheDeviceSplitTheWorkOfTheStream() {
        Summary summary = summary(played(), new OnDevice(400_000, 100_000, 0, 0, 2_000_000, 2_500_000,
                new Marked(0, 500_000, 900_000, 200_000)));
        RankSteps rank = summary.ranks().getFirst();
        assertEquals(0.5, rank.forwardMillis(), 1e-6);
        assertEquals(0.9, rank.backwardMillis(), 1e-6);
        assertEquals(0.2, rank.optimizerMillis(), 1e-6);
        assertEquals(1.6, rank.computeMillis(), 1e-6);
        assertEquals(0.9, rank.residualMillis(), 0.01);
        assertTrue(verdicts(summary).contains(Verdict.RESIDUAL_HEAVY), summary.text());
        assertEquals(2, summary.input().onDevice().computeMillis().p50(), "the stream worked outside of phases too");
        assertFalse(verdicts(summary).contains(Verdict.DEVICE_IDLE), summary.text());
    }

    @Test
    void workThatIsMarkedAsAWholeHasNoPhases() {
        Summary summary = summary(played(), new OnDevice(400_000, 100_000, 0, 0, 2_000_000, 2_500_000,
                new Marked(1_500_000, 0, 0, 0)));
        assertEquals(1.5, summary.ranks().getFirst().computeMillis(), 1e-6);
        assertEquals(Double.NaN, summary.ranks().getFirst().forwardMillis());
    }

    private static Set<Verdict> verdicts(Summary summary) {
        return summary.findings().stream().map(Finding::verdict).collect(Collectors.toSet());
    }

    /** Copies of 1 MiB, of which the thread has one picture and the device another. */
    @Test
    void theRateOfCopiesAndWhatTheyCostIsByTheDevicesClock() {
        var scenario = new Scenario();
        scenario.deviceSlots = 3;
        scenario.copyRate = 25e9;
        scenario.copy = _ -> 3_000;
        scenario.pinned = false;
        Set<Verdict> byThread = verdicts(Diagnoses.summary(scenario.play()));
        assertTrue(byThread.containsAll(Set.of(Verdict.H2D_SLOW, Verdict.H2D_BOUND)), byThread.toString());

        Recording played = scenario.play();
        Summary quick = summary(played, new OnDevice(50_000, 0, 0, 0, 2_000_000, 2_000_000, null));
        assertFalse(verdicts(quick).contains(Verdict.H2D_SLOW), quick.text());
        assertFalse(verdicts(quick).contains(Verdict.H2D_BOUND), quick.text());
        assertEquals(0, score(quick, Verdict.UNPINNED));

        Summary slow = summary(played, new OnDevice(500_000, 0, 0, 500_000, 2_000_000, 2_500_000, null));
        assertEquals(0.2, score(slow, Verdict.H2D_SLOW), 1e-3);
        assertEquals(0.2, score(slow, Verdict.H2D_BOUND), 1e-3);
        assertEquals(0.2, score(slow, Verdict.UNPINNED), 1e-3);
        assertEquals("gpu", slow.findings().getFirst().evidence().get("clock"), slow.text());
    }

    private static double score(Summary summary, Verdict verdict) {
        return summary.findings().stream().filter(found -> found.verdict() == verdict)
                .mapToDouble(Finding::score).findFirst().orElseThrow(() -> new AssertionError(summary.text()));
    }

    @Test
    void theSummaryFileKeepsWhatTheDeviceSays(@TempDir Path folder) throws Exception {
        Summary summary = Diagnoses.summary(played());
        summary.write(folder);
        Summary read = Summary.read(folder);
        assertEquals("gpu", read.clock());
        assertEquals(summary.input().onDevice(), read.input().onDevice());
    }
}
