// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.ReadMode;
import io.penstock.telemetry.BatchAccount.Download;
import io.penstock.telemetry.LoaderReport.Downloads;
import io.penstock.telemetry.LoaderReport.PartTime;
import io.penstock.telemetry.SampleTimes;
import io.penstock.telemetry.SampleTimes.Bucket;
import io.penstock.telemetry.SampleTimes.SizeClass;
import io.penstock.telemetry.SampleTimes.SlowSample;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Each verdict is found where its fault was put, and not where something next to it was. */
class VerdictsTest {

    /** A fault, and the same with what makes it one taken away. */
    private record Case(Consumer<Scenario> fault, Consumer<Scenario> control) {
    }

    private static final Map<Verdict, Case> CASES = new LinkedHashMap<>();

    static {
        put(Verdict.INPUT_BOUND, s -> s.decode = _ -> 6_000, s -> s.decode = _ -> 2_000);
        put(Verdict.H2D_BOUND, s -> {
            s.deviceSlots = 2;
            s.copy = _ -> 4_000;
        }, s -> {
            s.deviceSlots = 3;
            s.copy = _ -> 500;
        });
        put(Verdict.RESIDUAL_HEAVY, s -> s.gap = _ -> 1_000, s -> s.gap = _ -> 50);
        put(Verdict.COMPUTE_BOUND, s -> s.gap = _ -> 5, s -> s.gap = _ -> 1_500);
        put(Verdict.BALANCED, s -> {
            s.workers = 1;
            s.collate = _ -> 2_250;
            s.gap = _ -> 190;
        }, s -> s.gap = _ -> 5);
        put(Verdict.WARMUP, s -> s.batches = 1, s -> s.batches = 30);
        put(Verdict.NO_DATA, s -> s.batches = 0, s -> s.batches = 30);
        put(Verdict.SOURCE_EMPTY, s -> {
            s.plan = _ -> 6_000;
            s.sourceEmpty = _ -> 5_900;
        }, s -> {
            s.plan = _ -> 6_000;
            s.sourceSlow = _ -> 5_900;
        });
        put(Verdict.SOURCE_SLOW, s -> {
            s.plan = _ -> 6_000;
            s.sourceSlow = _ -> 5_900;
        }, s -> s.plan = _ -> 6_000);
        put(Verdict.STORAGE, s -> {
            s.read = _ -> 8_000;
            s.blocked = _ -> 7_000;
        }, s -> {
            s.read = _ -> 8_000;
            s.blocked = _ -> 1_000;
        });
        put(Verdict.PAGE_FAULT, s -> {
            s.readMode = ReadMode.MMAP;
            s.collate = _ -> 8_000;
            s.blocked = _ -> 7_000;
            s.diskBytes = _ -> 1 << 20;
        }, s -> {
            s.readMode = ReadMode.MMAP;
            s.collate = _ -> 8_000;
        });
        put(Verdict.DOWNLOAD, s -> {
            s.collate = _ -> 8_000;
            s.blocked = _ -> 7_000;
            s.download = _ -> new Download(0, 0, 5_000_000, 2_000_000, 0);
        }, s -> {
            s.collate = _ -> 8_000;
            s.blocked = _ -> 7_000;
            s.download = _ -> new Download(0, 0, 10_000, 0, 0);
        });
        put(Verdict.OVERFETCHED, s -> s.downloads = new Downloads(6_400, 300, 1 << 28, 300L << 23, 300, 302, 100_000),
                s -> s.downloads = new Downloads(6_400, 300, 200L << 23, 300L << 23, 300, 302, 100_000));
        put(Verdict.READ_AMPLIFIED, s -> s.diskBytes = _ -> 5 << 20, s -> s.diskBytes = _ -> 1 << 20);
        put(Verdict.DECODE, s -> s.decode = _ -> 6_000, s -> s.transform = _ -> 6_000);
        put(Verdict.TRANSFORM, s -> s.transform = _ -> 6_000, s -> s.decode = _ -> 6_000);
        put(Verdict.SLOW_SAMPLES, s -> slow(s, 40), s -> slow(s, 1));
        put(Verdict.COLLATE, s -> s.collate = _ -> 6_000, s -> s.decode = _ -> 6_000);
        put(Verdict.PLAN, s -> s.plan = _ -> 6_000, s -> s.collate = _ -> 6_000);
        put(Verdict.SLOT_STARVED, s -> {
            s.hostSlots = 1;
            s.collate = _ -> 1_500;
        }, s -> s.collate = _ -> 1_500);
        put(Verdict.ORDER_BLOCKED, s -> s.decode = i -> i % 20 == 10 ? 40_000 : 0,
                s -> s.decode = i -> i % 20 == 10 ? 4_000 : 0);
        put(Verdict.CPU_OVERSUBSCRIBED, s -> {
            s.collate = _ -> 8_000;
            s.blocked = _ -> 6_000;
            s.involuntary = _ -> 3;
        }, s -> {
            s.collate = _ -> 8_000;
            s.blocked = _ -> 6_000;
        });
        put(Verdict.GC_STALL, s -> pauses(s, 2_000), s -> pauses(s, 200));
        put(Verdict.COLD_START, s -> s.start = 200_000, s -> s.start = 10_000);
        put(Verdict.TAIL_STALL, s -> s.hold = i -> i % 25 == 0 ? 9_000 : 2_000,
                s -> s.hold = i -> i % 25 == 0 ? 3_500 : 2_000);
        put(Verdict.H2D_SLOW, s -> {
            s.deviceSlots = 3;
            s.copyRate = 25e9;
            s.copy = _ -> 3_000;
        }, s -> {
            s.deviceSlots = 3;
            s.copyRate = 25e9;
            s.copy = _ -> 1_000; // Slow too, and nobody waits.
        });
        put(Verdict.UNPINNED, s -> {
            s.deviceSlots = 3;
            s.pinned = false;
        }, s -> s.deviceSlots = 3);
        put(Verdict.DEVICE_IDLE, s -> {
            s.deviceSlots = 3;
            s.timed = true;
            s.gap = _ -> 2_000;
        }, s -> {
            s.deviceSlots = 3;
            s.gap = _ -> 2_000; // Idle too, and no device says so.
        });
        put(Verdict.LOADER_AHEAD, _ -> { }, s -> s.collate = _ -> 3_900);
        put(Verdict.GPU_IDLE, s -> machine(s, m -> m.utilization = 0.25), s -> machine(s, m -> m.utilization = 0.9));
        put(Verdict.GPU_THROTTLED, s -> machine(s, m -> {
            m.throttle = 0x20;
            m.clock = 900;
        }), s -> machine(s, m -> m.throttle = 0x4)); // The limit of power, with clocks as they should be.
        put(Verdict.GPU_SHARED, s -> machine(s, m -> m.processes = 2), s -> machine(s, _ -> { }));
        put(Verdict.LINK_DEGRADED, s -> machine(s, m -> m.lanes = 4), s -> machine(s, m -> {
            m.lanes = 4;
            m.utilization = 0.1;
        }));
        put(Verdict.MEMORY_CREEP, s -> machine(s, m -> m.anonymous = i -> 2e9 + i * 1e6 + (i * 7919 % 13) * 1e6),
                s -> machine(s, m -> m.anonymous = i -> 2e9 + Math.min(i, 60) * 1e7 + (i * 7919 % 13) * 1e6));
        put(Verdict.CPU_THROTTLED, s -> machine(s, m -> m.throttled = i -> 2 * i / 10),
                s -> machine(s, m -> m.throttled = i -> 2 * i / 100));
    }

    /** The trainer waits for decoding; twenty samples of 9 MB take so many ms each, 6,380 of 100 kB take 500 µs. */
    private static void slow(Scenario scenario, long millis) {
        scenario.decode = _ -> 6_000;
        scenario.sampleTimes = new SampleTimes(List.of(), List.of(new Bucket(500_000, 500_000, 6_380),
                new Bucket(millis * 1_000_000, millis * 1_000_000, 20)), List.of(),
                List.of(new SizeClass(1 << 16, 6_380, 6_380L * 500_000),
                        new SizeClass(1 << 23, 20, 20 * millis * 1_000_000)),
                List.of(new SlowSample(17, "large.jpg", 9_000_000, 0, millis * 1_000_000, 0)));
    }

    /** Steps of 20 ms, with a look at the machine at every tenth. */
    private static void machine(Scenario scenario, Consumer<PlayedMachine> change) {
        var machine = new PlayedMachine();
        change.accept(machine);
        scenario.batches = 300;
        scenario.hold = _ -> 20_000;
        scenario.machine = i -> i % 10 == 0 ? machine.sample(i) : null;
    }

    private static void put(Verdict verdict, Consumer<Scenario> fault, Consumer<Scenario> control) {
        CASES.put(verdict, new Case(fault, control));
    }

    private static void pauses(Scenario scenario, long micros) {
        for (int i = 0; i < 40; i++) {
            long begin = 1_000_000_000L + i * 10_000L * Scenario.MICRO;
            scenario.pauses.add(new Recording.Stretch(begin, begin + micros * Scenario.MICRO));
        }
    }

    private static List<Finding> findings(Consumer<Scenario> change) {
        var scenario = new Scenario();
        change.accept(scenario);
        return Diagnoses.summary(scenario.play()).findings();
    }

    private static Set<Verdict> verdicts(List<Finding> findings) {
        return findings.stream().map(Finding::verdict)
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(Verdict.class)));
    }

    @TestFactory
    Stream<DynamicTest> aVerdictIsFoundWhereItsFaultIsAndNotInTheControl() {
        return CASES.entrySet().stream().map(entry -> DynamicTest.dynamicTest(entry.getKey().label(), () -> {
            List<Finding> fault = findings(entry.getValue().fault());
            assertTrue(verdicts(fault).contains(entry.getKey()), "with the fault: " + fault);
            List<Finding> control = findings(entry.getValue().control());
            assertFalse(verdicts(control).contains(entry.getKey()), "without: " + control);
            for (Finding finding : fault) {
                assertTrue(finding.summary().endsWith(".") && finding.action().endsWith("."), finding.toString());
            }
        }));
    }

    @Test
    void theVerdictOnMapsNamesTheDearestStepAndWhatItWouldGiveToMoveIt() {
        var scenario = new Scenario();
        scenario.decode = _ -> 2_000;
        scenario.transform = _ -> 8_000;
        scenario.parts = List.of(new PartTime("decode", 60_000_000), new PartTime("randomResizedCrop", 60_000_000),
                new PartTime("colorJitter", 150_000_000), new PartTime("normalize", 30_000_000));
        Summary summary = Diagnoses.summary(scenario.play());
        Finding found = Diagnoses.finding(summary, Verdict.TRANSFORM);
        assertTrue(found.summary().contains("colorJitter is 50.0 % of the work on a sample"), found.summary());
        assertEquals("colorJitter", found.evidence().get("dearest_step"));
        // A batch takes 10.3 ms of a worker, without colorJitter and normalize 4.3 ms; two workers, a trainer of 2 ms.
        assertEquals(10.305 / 4.305 - 1, (double) found.evidence().get("gain_on_device"), 0.05, found.toString());
        assertEquals(10.305 / 2 / 2.021 - 1, (double) found.evidence().get("gain_offline"), 0.05, found.toString());
        assertTrue(found.action().contains("on the device (") && found.action().contains("penstock convert"),
                found.action());
        assertEquals(List.of("decode", "randomResizedCrop", "colorJitter", "normalize"),
                summary.input().parts().stream().map(Summary.PartRow::part).toList());
        assertTrue(summary.text().contains("colorJitter"), summary.text());
    }

    @Test
    void decodingThatIsDearerThanEveryStepIsNotSentToTheDevice() {
        var scenario = new Scenario();
        scenario.decode = _ -> 8_000;
        scenario.transform = _ -> 2_000;
        scenario.parts = List.of(new PartTime("decode", 240_000_000), new PartTime("horizontalFlip", 60_000_000));
        Finding found = decode(scenario);
        assertTrue(found.summary().contains("decode is 80.0 % of the work on a sample"), found.summary());
        assertTrue(found.action().startsWith("Write augmented samples once"), found.action());
        assertEquals(10.305 / 2 / 2.021 - 1, (double) found.evidence().get("gain_offline"), 0.05, found.toString());
    }

    @Test
    void aTrainerThatDoesNothingElseIsToldThatOnlyTheInputWasMeasured() {
        var scenario = new Scenario();
        scenario.decode = _ -> 20_000;
        scenario.hold = _ -> 50;
        Finding alone = Diagnoses.summary(scenario.play()).findings().getFirst();
        assertEquals(Verdict.INPUT_BOUND, alone.verdict());
        assertTrue(alone.summary().endsWith("so this is the throughput of the input alone: a trainer with steps of more"
                + " than 10.1 ms would hardly wait."), alone.summary());
        scenario.hold = _ -> 2_000;
        Finding trainer = Diagnoses.summary(scenario.play()).findings().getFirst();
        assertEquals(Verdict.INPUT_BOUND, trainer.verdict());
        assertFalse(trainer.summary().contains("alone"), trainer.summary());
    }

    /** Two batches an epoch, the second a quarter as large. */
    @Test
    void anAverageSaysOfWhichStepsItIs() {
        var scenario = new Scenario();
        scenario.batchesPerEpoch = 2;
        scenario.workers = 1;
        scenario.decode = i -> i % 2 == 0 ? 64_000 : 16_000;
        String text = Diagnoses.summary(scenario.play()).text();
        assertTrue(text.contains("100 of 200 steps: without the first of each epoch. Average of all: 40."), text);
        scenario.batchesPerEpoch = 200;
        scenario.batches = 1;
        assertFalse(Diagnoses.summary(scenario.play()).text().contains("without the first"));
    }

    @Test
    void noAdviceIsGivenWhoseGainIsAboutNothing() {
        var scenario = new Scenario();
        scenario.decode = _ -> 1_000;
        scenario.transform = _ -> 300;
        scenario.parts = List.of(new PartTime("decode", 30_000_000), new PartTime("horizontalFlip", 9_000_000));
        scenario.hold = _ -> 1_000;
        scenario.read = _ -> 8_000;
        assertTrue(decode(scenario).action().startsWith("Write augmented samples once"), decode(scenario).action());
        // Storage gives no more than it did.
        scenario.blocked = _ -> 7_900;
        scenario.diskBytes = _ -> 1 << 20;
        assertEquals("Use more workers if cores are free.", decode(scenario).action());
    }

    @Test
    void decodingByTheJdkIsAdvisedToBecomeFaster() {
        var scenario = new Scenario();
        scenario.decode = _ -> 8_000;
        scenario.parts = List.of(new PartTime(PartTime.DECODE_BY_JDK, 240_000_000));
        assertTrue(decode(scenario).action().startsWith("Install libjpeg-turbo if the files are JPEG"),
                decode(scenario).action());
        scenario.transform = _ -> 2_000;
        scenario.parts = List.of(new PartTime(PartTime.DECODE_BY_JDK, 240_000_000),
                new PartTime("horizontalFlip", 60_000_000));
        assertTrue(decode(scenario).action().startsWith("Install libjpeg-turbo if the files are JPEG"),
                decode(scenario).action());
        assertTrue(decode(scenario).summary().contains("decode (JPEG by the JDK) is 80.0 %"),
                decode(scenario).summary());
        scenario.parts = List.of(new PartTime(PartTime.DECODE, 240_000_000));
        assertFalse(decode(scenario).action().contains("libjpeg-turbo"), decode(scenario).action());
    }

    @Test
    void aGainThatTooFewStepsShowIsLeftOutAndAHugeOneIsALowerBound() {
        var scenario = new Scenario();
        scenario.decode = _ -> 80_000;
        scenario.transform = _ -> 2_000;
        scenario.parts = List.of(new PartTime("decode", 240_000_000), new PartTime("horizontalFlip", 60_000_000));
        assertEquals("Write augmented samples once with 'penstock convert --augment' (4 times as many samples/s or"
                + " more, if storage keeps up), or use more workers if cores are free.", decode(scenario).action());
        scenario.batches = 15;
        assertEquals("Write augmented samples once with 'penstock convert --augment', or use more workers if cores"
                + " are free.", decode(scenario).action());
    }

    private static Finding decode(Scenario scenario) {
        return Diagnoses.finding(Diagnoses.summary(scenario.play()), Verdict.DECODE);
    }

    @Test
    void theVerdictOnDownloadsNamesWhatTheyWaitForAndWhatAnEpochCosts() {
        Map<String, Download> waits = Map.of("another process", new Download(4_000_000, 1, 1, 1, 1),
                "earlier requests", new Download(1, 4_000_000, 1, 1, 1),
                "the first byte", new Download(1, 1, 4_000_000, 1, 1),
                "the bytes of answers", new Download(1, 1, 1, 4_000_000, 1),
                "the next attempt", new Download(1, 1, 1, 1, 4_000_000));
        waits.forEach((what, wait) -> {
            var scenario = new Scenario();
            scenario.collate = _ -> 5_000;
            scenario.blocked = _ -> 4_000;
            scenario.download = _ -> wait;
            scenario.downloads = new Downloads(8_000, 800, 50_000_000, 100_000_000, 100, 110, 64_000);
            Summary summary = Diagnoses.summary(scenario.play());
            Finding found = Diagnoses.finding(summary, Verdict.DOWNLOAD);
            assertTrue(found.summary().contains("mostly for " + what), found.summary());
            // Four fifths of making a batch.
            assertEquals("download", Diagnoses.finding(summary, Verdict.INPUT_BOUND).evidence().get("cause"));
            assertEquals(0.9, (double) found.evidence().get("hit_rate"), 1e-9);
            assertEquals(10L, found.evidence().get("requests_sent_again"));
            // 200 batches of 32 samples are a tenth of an epoch.
            assertEquals(1.0, (double) found.evidence().get("epoch_gb"), 1e-9);
            assertEquals(1_100.0, (double) found.evidence().get("epoch_requests"), 1e-9);
            assertEquals(110 / 6.4, (double) found.evidence().get("requests_per_1000_samples"), 1e-9);
        });
    }

    @Test
    void everyVerdictOnOneRankHasACase() {
        Set<Verdict> missing = EnumSet.allOf(Verdict.class);
        missing.removeAll(CASES.keySet());
        assertEquals(EnumSet.of(Verdict.INPUT_STRAGGLER, Verdict.H2D_STRAGGLER, Verdict.COMPUTE_STRAGGLER,
                Verdict.STRAGGLER, Verdict.INCOMPLETE_DATA, Verdict.SLOWER_THAN_BEFORE), missing);
    }

    @Test
    void aHealthyRunHasNoWarning() {
        List<Finding> findings = findings(_ -> { });
        assertTrue(findings.stream().allMatch(finding -> finding.severity() == Severity.INFO), findings.toString());
    }

    @Test
    void severityRisesAtTenAndTwentyPercent() {
        assertEquals(Severity.WARN, findings(s -> s.gap = _ -> 300).getFirst().severity());
        assertEquals(Severity.CRIT, findings(s -> s.gap = _ -> 600).getFirst().severity());
        assertEquals(Severity.WARN, findings(s -> {
            s.gap = _ -> 600;
            s.batches = 15;
        }).getFirst().severity(), "fewer than 20 steps warn at most");
    }

    @Test
    void ofFewStepsNothingIsCriticalTheyAreSaidToBeFewAndWhatFollowsTheVerdictIsOrderedBySeverity() {
        List<Finding> few = findings(s -> {
            s.decode = _ -> 6_000;
            s.batches = 6;
        });
        assertTrue(few.stream().noneMatch(finding -> finding.severity() == Severity.CRIT), few.toString());
        assertTrue(few.stream().anyMatch(finding -> finding.verdict() == Verdict.WARMUP
                && finding.summary().contains("too few")), few.toString());
        List<Severity> rest = few.stream().skip(1).map(Finding::severity).toList();
        assertEquals(rest.stream().sorted(Comparator.reverseOrder()).toList(), rest);
    }

    @Test
    void theVerdictNamesTheCauseOfWaiting() {
        Finding first = findings(s -> s.decode = _ -> 6_000).getFirst();
        assertEquals(Verdict.INPUT_BOUND, first.verdict());
        assertEquals("decode", first.evidence().get("cause"));
        Finding mixed = findings(s -> {
            s.decode = _ -> 3_000;
            s.collate = _ -> 3_000;
            s.transform = _ -> 3_000;
        }).getFirst();
        assertEquals("mixed", mixed.evidence().get("cause"));
    }

    @Test
    void whatIsDoneBetweenEpochsIsNoPartOfAStep() {
        List<Finding> findings = findings(s -> {
            s.batchesPerEpoch = 20;
            s.gap = i -> i % 20 == 19 ? 100_000 : 5;
        });
        assertEquals(Verdict.COMPUTE_BOUND, findings.getFirst().verdict(), findings.toString());
    }

    @Test
    void oneWorkerIsNotAdvisedToBeFewer() {
        assertEquals("Move other work off these cores.", InputRules.coreAdvice(1));
        assertEquals("Use fewer workers, or move other work off these cores.", InputRules.coreAdvice(2));
    }
}
