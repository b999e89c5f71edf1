// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import static io.penstock.diagnose.SummaryExamples.FINGERPRINT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.diagnose.Summary;
import io.penstock.diagnose.Summary.Fingerprint;
import io.penstock.diagnose.Summary.RankSteps;
import io.penstock.diagnose.SummaryExamples;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a comparison says of runs whose difference is known. */
class ComparisonTest {

    private static final int POINTS = 300;

    private static Summary run(long seed, double factor) {
        return SummaryExamples.run(seed, POINTS, factor, 0.03, FINGERPRINT);
    }

    private static Comparison compare(Summary before, Summary after) {
        return Comparison.of(before, after, Comparison.THRESHOLD);
    }

    @Test
    void aStepThatIsATenthLongerIsARegressionAndTheOtherWayRoundAnImprovement() {
        for (long seed = 0; seed < 20; seed++) {
            Comparison slower = compare(run(seed, 1), run(1000 + seed, 1.1));
            assertEquals(Outcome.REGRESSION, slower.outcome(), "seed " + seed + ": " + slower.reason());
            assertTrue(slower.step().low() > 0 && slower.step().high() < 0.2, "seed " + seed + slower.step());
            assertEquals(Outcome.IMPROVEMENT, compare(run(1000 + seed, 1.1), run(seed, 1)).outcome());
        }
    }

    @Test
    void runsThatDifferByNoiseAloneAreNeverARegression() {
        int unchanged = 0;
        for (long seed = 0; seed < 200; seed++) {
            Comparison same = compare(run(seed, 1), run(5000 + seed, 1));
            assertFalse(same.outcome() == Outcome.REGRESSION || same.outcome() == Outcome.IMPROVEMENT,
                    "seed " + seed + ": " + same.reason());
            unchanged += same.outcome() == Outcome.UNCHANGED ? 1 : 0;
        }
        assertTrue(unchanged > 150, unchanged + " of 200 told to be unchanged");
    }

    /** The moving block bootstrap is a little too narrow with noise that lasts; far from half of the intervals. */
    @Tag("slow")
    @Test
    void theIntervalHoldsTheTrueChangeNearlyAsOftenAsItSays() {
        int held = 0;
        for (long seed = 0; seed < 300; seed++) {
            StepChange change = StepChange.between(run(seed, 1).input().series(),
                    run(9000 + seed, 1.05).input().series());
            held += change.low() <= 0.05 && 0.05 <= change.high() ? 1 : 0;
        }
        assertTrue(held >= 0.85 * 300 && held < 300, held + " of 300 intervals held the true change");
    }

    @Test
    void aChangeThatNoiseHidesIsInconclusive() {
        Summary before = SummaryExamples.run(1, 30, 1, 0.5, FINGERPRINT);
        Summary after = SummaryExamples.run(2, 30, 1, 0.5, FINGERPRINT);
        Comparison hidden = compare(before, after);
        assertEquals(Outcome.INCONCLUSIVE, hidden.outcome(), hidden.reason());
        assertTrue(hidden.reason().contains("noise"), hidden.reason());
    }

    @Test
    void runsOfAFewStepsAreInconclusive() {
        assertEquals(Outcome.INCONCLUSIVE, compare(SummaryExamples.run(1, 5, 1, 0.1, FINGERPRINT),
                SummaryExamples.run(2, 5, 1, 0.1, FINGERPRINT)).outcome());
    }

    @Test
    void aColdCacheDoesNotCompareWithAWarmOneUnlessAllowed() {
        Fingerprint p = FINGERPRINT;
        Fingerprint cold = new Fingerprint(p.penstock(), p.jdk(), p.os(), p.cores(), p.gpu(), p.driver(), p.dataset(),
                p.batchSize(), p.worldSize(), p.workers(), p.hostSlots(), p.deviceSlots(), p.readMode(), "cold");
        Summary after = SummaryExamples.run(2, POINTS, 1.5, 0.03, cold);
        Comparison refused = compare(run(1, 1), after);
        assertEquals(Outcome.INCONCLUSIVE, refused.outcome());
        assertTrue(refused.reason().contains("page cache warm → cold"), refused.reason());
        assertEquals(Outcome.REGRESSION, Comparison.ofMismatched(run(1, 1), after, Comparison.THRESHOLD).outcome());
    }

    @Test
    void anotherNumberOfWorkersIsWhatIsComparedAndNoMismatch() {
        Fingerprint p = FINGERPRINT;
        Fingerprint more = new Fingerprint(p.penstock(), p.jdk(), p.os(), p.cores(), p.gpu(), p.driver(), p.dataset(),
                p.batchSize(), p.worldSize(), 4, p.hostSlots(), p.deviceSlots(), p.readMode(), p.cacheState());
        Comparison comparison = compare(run(1, 1), SummaryExamples.run(2, POINTS, 0.8, 0.03, more));
        assertEquals(Outcome.IMPROVEMENT, comparison.outcome());
        assertEquals(List.of(new Comparison.Difference("workers", "2", "4")), comparison.settings());
    }

    @Test
    void memoryDecidesWhereTheStepDoesNotAndMixesWhereItIsOpposite() {
        assertEquals(Outcome.REGRESSION, compare(run(1, 1), withMemory(run(2, 1), 60_000_000)).outcome());
        assertEquals(Outcome.UNCHANGED, compare(run(1, 1), withMemory(run(2, 1), 52_000_000)).outcome());
        assertEquals(Outcome.MIXED, compare(run(1, 1), withMemory(run(2, 0.8), 60_000_000)).outcome());
    }

    private static Summary withMemory(Summary run, long bytes) {
        RankSteps r = run.ranks().getFirst();
        var rank = new RankSteps(r.rank(), r.host(), r.steps(), r.firstStep(), r.lastStep(), r.stepMillis(),
                r.inputWaitMillis(), r.fetchMillis(), r.h2dMillis(), r.computeMillis(), r.forwardMillis(),
                r.backwardMillis(), r.optimizerMillis(), r.residualMillis(), bytes);
        return new Summary(run.run(), run.generatedAt(), run.durationSeconds(), run.fingerprint(), run.clock(),
                List.of(rank), run.findings(), run.input(), run.overhead());
    }

    @Test
    void theLargestMoverIsThePartOfTheStepThatChangedMost() {
        Comparison comparison = compare(run(1, 1), run(2, 1.5));
        assertEquals("compute", comparison.largestMover().orElseThrow().name());
    }

    @Test
    void theLastOfSeveralRunsIsComparedBeyondWhatTheOthersDifferBy() {
        List<Summary> past = List.of(run(1, 1), run(2, 1.02), run(3, 0.98), run(4, 1.01));
        for (long seed = 0; seed < 20; seed++) {
            RunHistory same = history(past, run(100 + seed, 1.01));
            assertFalse(same.outcome() == Outcome.REGRESSION || same.outcome() == Outcome.IMPROVEMENT,
                    same.reason());
            RunHistory slower = history(past, run(100 + seed, 1.25));
            assertEquals(Outcome.REGRESSION, slower.outcome(), slower.reason());
            assertTrue(slower.reason().contains("compute"), slower.reason());
            assertEquals(Outcome.IMPROVEMENT, history(past, run(100 + seed, 0.75)).outcome());
        }
        // The same change among runs that differ more is noise.
        RunHistory noisy = history(List.of(run(1, 1), run(2, 1.3), run(3, 0.8), run(4, 1.1)), run(5, 1.25));
        assertEquals(Outcome.INCONCLUSIVE, noisy.outcome(), noisy.reason());
        assertEquals(5, noisy.rows().size());
    }

    private static RunHistory history(List<Summary> past, Summary last) {
        List<Summary> all = new ArrayList<>(past);
        all.add(last);
        return RunHistory.of(all, Comparison.THRESHOLD);
    }

    @Test
    void aRunOfOtherDataAmongSeveralMakesThemIncomparable() {
        Fingerprint p = FINGERPRINT;
        Fingerprint other = new Fingerprint(p.penstock(), p.jdk(), p.os(), p.cores(), p.gpu(), p.driver(), "other",
                p.batchSize(), p.worldSize(), p.workers(), p.hostSlots(), p.deviceSlots(), p.readMode(),
                p.cacheState());
        List<Summary> runs = List.of(run(1, 1), SummaryExamples.run(2, POINTS, 1, 0.03, other), run(3, 1.5));
        RunHistory refused = RunHistory.of(runs, Comparison.THRESHOLD);
        assertEquals(Outcome.INCONCLUSIVE, refused.outcome());
        assertTrue(refused.reason().contains("dataset other"), refused.reason());
        assertEquals(Outcome.REGRESSION, RunHistory.ofMismatched(runs, Comparison.THRESHOLD).outcome());
        assertThrows(IllegalArgumentException.class, () -> RunHistory.of(runs.subList(0, 1), 0.03));
    }

    @Test
    void aThresholdThatIsNoShareIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Comparison.of(run(1, 1), run(2, 1), 0));
    }

    @Test
    void aRunComparedWithItselfIsUnchangedHoweverShort() {
        for (int points : new int[] {1, 3, POINTS}) {
            Comparison same = compare(SummaryExamples.run(1, points, 1, 0.5, FINGERPRINT),
                    SummaryExamples.run(1, points, 1, 0.5, FINGERPRINT));
            assertEquals(Outcome.UNCHANGED, same.outcome(), same.reason());
            assertEquals("both are the same run", same.reason());
        }
    }
}
