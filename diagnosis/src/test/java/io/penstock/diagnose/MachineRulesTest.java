// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Figures and evidence of the verdicts on the machine; that they are found is in {@link VerdictsTest}. */
class MachineRulesTest {

    private static Summary summary(Consumer<PlayedMachine> change, Consumer<Scenario> more) {
        var machine = new PlayedMachine();
        change.accept(machine);
        var scenario = new Scenario();
        scenario.batches = 300;
        scenario.hold = _ -> 20_000;
        scenario.machine = i -> i % 10 == 0 ? machine.sample(i) : null;
        more.accept(scenario);
        return Diagnoses.summary(scenario.play());
    }

    private static List<Finding> findings(Summary summary, Verdict verdict) {
        return summary.findings().stream().filter(finding -> finding.verdict() == verdict).toList();
    }

    private static Finding one(Consumer<PlayedMachine> change, Verdict verdict) {
        List<Finding> found = findings(summary(change, _ -> { }), verdict);
        assertEquals(1, found.size(), found.toString());
        return found.getFirst();
    }

    @Test
    void figuresAreThoseOfTheStepsAndSurviveTheFile() throws Exception {
        Summary summary = summary(_ -> { }, _ -> { });
        Summary.MachineUse use = summary.machine();
        assertEquals("Simulated", use.gpu());
        assertEquals(0.95, use.gpuUtilization(), 1e-9);
        assertEquals(21e9, use.gpuMemoryBytes());
        assertEquals(20e9, use.gpuProcessBytes());
        assertEquals(1900.0 / 1980, use.gpuClockShare(), 1e-9);
        // 30 ms of processor time in a step of 20 ms, its gap and its handover.
        assertEquals(30 / 20.021, use.cores(), 1e-3);
        assertEquals(10 / 20.021, use.loaderCores(), 1e-3);
        assertEquals(1e6 / 20.021e-3, use.diskBytesPerSecond(), 1e4);
        assertEquals(4, use.limitCores());
        assertTrue(summary.text().contains("GPU: Simulated"), summary.text());
        Path folder = Files.createTempDirectory("summary");
        try {
            summary.write(folder);
            assertEquals(use, Summary.read(folder).machine());
        } finally {
            Files.delete(folder.resolve(Summary.JSON_FILE));
            Files.delete(folder.resolve(Summary.TEXT_FILE));
            Files.delete(folder);
        }
        assertNull(Diagnoses.summary(new Scenario().play()).machine());
    }

    @Test
    void anIdleGpuWhileTheTrainerWaitsForInputIsNoVerdictOfItsOwn() {
        Summary summary = summary(m -> m.utilization = 0.2, s -> {
            s.hold = _ -> 2_000;
            s.decode = _ -> 40_000;
        });
        assertEquals(List.of(), findings(summary, Verdict.GPU_IDLE));
        assertEquals(Verdict.INPUT_BOUND, summary.findings().getFirst().verdict());
    }

    @Test
    void aGpuThatIsBusyWhileTheTrainerWaitsWorksForOthers() {
        Finding alone = one(m -> m.processes = 3, Verdict.GPU_SHARED);
        assertEquals(Severity.INFO, alone.severity());
        Summary waiting = summary(m -> m.processes = 2, s -> {
            s.hold = _ -> 1_000;
            s.decode = _ -> 40_000;
        });
        Finding busy = findings(waiting, Verdict.GPU_SHARED).getFirst();
        assertEquals(Severity.WARN, busy.severity());
        assertEquals(0.95, (double) busy.evidence().get("utilization_while_waiting"), 1e-9);
        assertEquals(1e9, (double) busy.evidence().get("memory_of_others_bytes"));
    }

    @Test
    void throttlingSaysWhyAndByHowMuch() {
        Finding found = one(m -> {
            m.throttle = 0x44;
            m.clock = 990;
        }, Verdict.GPU_THROTTLED);
        assertEquals(Severity.CRIT, found.severity());
        assertEquals(0.5, (double) found.evidence().get("clock_share"), 1e-9);
        assertTrue(found.summary().contains("power cap, hardware heat"), found.summary());
        assertTrue(one(m -> {
            m.throttle = 0x4;
            m.clock = 990;
        }, Verdict.GPU_THROTTLED).action().contains("nvidia-smi -pl"));
    }

    @Test
    void aNarrowLinkIsComparedWithWhatIsPossible() {
        Finding found = one(m -> {
            m.generation = 1;
            m.lanes = 4;
        }, Verdict.LINK_DEGRADED);
        assertEquals(Severity.WARN, found.severity());
        assertEquals("The GPU's link runs as PCIe gen 1 x4 of gen 5 x16: 1.0 of 63.0 GB/s.", found.summary());
    }

    @ParameterizedTest
    @CsvSource({"anonymous, native memory", "afterGc, the Java heap", "gpuBytes, memory of the GPU",
        "files, open files", "threads, threads"})
    void whatGrowsWithTheStepsIsNamed(String field, String what) {
        Finding found = one(m -> {
            switch (field) {
                case "anonymous" -> m.anonymous = i -> 1e9 + 1e6 * i;
                case "afterGc" -> m.afterGc = i -> 1e8 + 1e6 * i;
                case "gpuBytes" -> m.gpuBytes = i -> 1e9 + 1e6 * i;
                case "files" -> m.files = i -> 40 + i;
                default -> m.threads = i -> 40 + i;
            }
        }, Verdict.MEMORY_CREEP);
        assertEquals(what, found.evidence().get("what"));
        assertTrue(found.summary().startsWith("Use of " + what + " grows by 1"), found.summary());
    }

    @Test
    void aHeapThatFillsForTheFirstTimeIsNoGrowth() {
        assertEquals(List.of(), findings(summary(m -> {
            m.heap = i -> 1e8 + 1e6 * i;
            m.anonymous = i -> 5e8 + 1e6 * i;
        }, _ -> { }), Verdict.MEMORY_CREEP));
    }

    @Test
    void growthOfFewStepsOrThatHasEndedIsNotReported() {
        assertEquals(List.of(), findings(summary(m -> m.anonymous = i -> 1e9 + 1e6 * i, s -> s.batches = 150),
                Verdict.MEMORY_CREEP));
        assertEquals(List.of(), findings(summary(m -> m.anonymous = i -> 1e9 + (i < 150 ? 0 : 3e8), _ -> { }),
                Verdict.MEMORY_CREEP));
    }

    @Test
    void theIntervalOfASlopeHoldsTheTrueOneInNineteenOfTwentySeries() {
        var random = new Random(7);
        int held = 0;
        int rounds = 2_000;
        for (int round = 0; round < rounds; round++) {
            double[] x = new double[40];
            double[] y = new double[40];
            for (int i = 0; i < x.length; i++) {
                x[i] = 10 * i;
                y[i] = 5 + 0.3 * x[i] + random.nextGaussian() * 4;
            }
            Trend trend = Trend.of(x, y);
            held += trend.low() <= 0.3 && trend.high() >= 0.3 ? 1 : 0;
        }
        // The correlation is estimated too and taken as 0 at least, so intervals are a little wide.
        assertTrue(held > 0.94 * rounds && held < 0.985 * rounds, held + " of " + rounds);
    }

    @Test
    void noiseThatWandersIsSeldomTakenForGrowth() {
        var random = new Random(11);
        int reported = 0;
        for (int round = 0; round < 200; round++) {
            double[] walk = new double[300];
            for (int i = 1; i < walk.length; i++) {
                walk[i] = 0.97 * walk[i - 1] + 20e6 * random.nextGaussian();
            }
            reported += findings(summary(m -> m.anonymous = i -> 4e9 + walk[i], _ -> { }), Verdict.MEMORY_CREEP)
                    .size();
        }
        assertTrue(reported <= 10, reported + " of 200");
    }

    @Test
    void withoutAGpuTheHostIsJudgedAlone() {
        Summary summary = summary(m -> {
            m.withGpu = false;
            m.throttled = i -> i;
        }, _ -> { });
        assertEquals(Double.NaN, summary.machine().gpuUtilization());
        assertFalse(findings(summary, Verdict.CPU_THROTTLED).isEmpty());
        assertTrue(summary.text().contains("cores"), summary.text());
    }

    @Test
    void whatIsMarkedAsNoTrainingIsLeftOutAndListed() {
        // A checkpoint of 30 ms in the gap behind every fiftieth step.
        Consumer<Scenario> work = s -> {
            s.batches = 200;
            s.gap = i -> i % 50 == 49 ? 30_000 : 20;
        };
        var scenario = new Scenario();
        work.accept(scenario);
        Recording plain = scenario.play();
        Summary unmarked = Diagnoses.summary(plain);
        scenario.interludes = plain.accounts().stream().filter(account -> account.sequence() % 50 == 49).map(account ->
                new Recording.Interlude("checkpoint", account.taking().closedAt() + 10_000,
                        account.taking().closedAt() + 29_990_000)).toList();
        Summary marked = Diagnoses.summary(scenario.play());
        assertTrue(unmarked.findings().stream().anyMatch(finding -> finding.verdict() == Verdict.RESIDUAL_HEAVY));
        assertTrue(marked.findings().stream().noneMatch(finding -> finding.verdict() == Verdict.RESIDUAL_HEAVY
                || finding.verdict() == Verdict.TAIL_STALL), marked.findings().toString());
        var healthy = new Scenario();
        assertEquals(Diagnoses.summary(healthy.play()).input().samplesPerSecond(), marked.input().samplesPerSecond(),
                0.001 * marked.input().samplesPerSecond());
        Summary.InterludeRow row = marked.interludes().getFirst();
        assertEquals("checkpoint", row.name());
        assertEquals(4, row.count());
        assertEquals(4 * 29.98, row.millis(), 1e-6);
        assertEquals(4 * 29.98 / (4 * 29.98 + 200 * 2.021), row.share(), 0.002);
        assertTrue(marked.text().contains("Left out: no training"), marked.text());
    }
}
