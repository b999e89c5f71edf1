// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.ReadMode;
import io.penstock.json.Json;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.xml.sax.InputSource;

class TunerTest {

    private static final long SECOND = 1_000_000_000L;
    private static final double NOISE = 0.05;
    private static final SearchPoint STANDARD = new SearchPoint(1, 16, ReadMode.AUTO, 3);
    private static final SearchSpace SPACE = new SearchSpace(List.of(0, 1, 2, 3, 4), List.of(1, 2, 4, 8, 16, 32),
            List.of(ReadMode.MMAP, ReadMode.PREAD, ReadMode.AUTO), List.of(3));

    /** Grows with workers up to 3, reads best by pread, and wants 8 batches of prefetch. */
    private static double peak(SearchPoint candidate) {
        double workers = candidate.workers() == 0 ? 0.6 : Math.min(candidate.workers(), 3);
        double read = candidate.readMode() == ReadMode.PREAD ? 1.25 : 1;
        double prefetch = candidate.prefetch() >= 8 ? 1 : 1 - 0.2 * (8 - candidate.prefetch()) / 4.0;
        return 1e6 * workers * read * prefetch;
    }

    @Test
    void findsTheKnownBest() throws IOException {
        for (long seed = 1; seed <= 20; seed++) {
            Tuning tuning = tuner(seed, NOISE, TunerTest::peak).run();
            assertEquals(new SearchPoint(3, 8, ReadMode.PREAD, 3), tuning.chosen(), "seed " + seed);
            assertTrue(tuning.nanos() <= 61 * SECOND, "seed " + seed + ": " + tuning.nanos());
        }
    }

    @Test
    void ofSettingsThatAreEquallyFastTakesTheCheapest() throws IOException {
        int others = 0;
        for (long seed = 1; seed <= 100; seed++) {
            others += tuner(seed, NOISE, _ -> 1e6).run().chosen()
                    .equals(new SearchPoint(0, 1, ReadMode.AUTO, 3)) ? 0 : 1;
        }
        // Two races in which the risk is 5 % each, and the finals.
        assertTrue(others <= 15, others + " of 100 searches chose another one");
    }

    @Test
    void aRaceOfEqualsCallsTheCheapestSlowerAsRarelyAsItSays() throws IOException {
        List<SearchPoint> equals = List.of(1, 2, 3, 4, 5, 6).stream()
                .map(workers -> STANDARD.withWorkers(workers, 4)).toList();
        int races = 400;
        int wrong = 0;
        for (long seed = 0; seed < races; seed++) {
            Race race = new Race(new CostModel(seed, 0.1, _ -> 1e6), equals, new SplittableRandom(seed));
            race.run(SECOND / 10, Long.MAX_VALUE, Long.MAX_VALUE, () -> { });
            wrong += race.curve("workers").chosen().candidate().workers() == 1 ? 0 : 1;
        }
        assertTrue(wrong <= races * Race.RISK, wrong + " of " + races);
    }

    @Test
    void aRaceShowsALossOfTenPercentInNoiseOfTheSameSize() throws IOException {
        int found = 0;
        for (long seed = 0; seed < 100; seed++) {
            Race race = new Race(new CostModel(seed, 0.1, candidate -> candidate.workers() == 1 ? 0.9e6 : 1e6),
                    List.of(STANDARD, STANDARD.withWorkers(2, 4)), new SplittableRandom(seed));
            race.run(SECOND / 10, Long.MAX_VALUE, Long.MAX_VALUE, () -> { });
            found += race.curve("workers").chosen().candidate().workers() == 2 ? 1 : 0;
        }
        assertTrue(found >= 90, found + " of 100");
    }

    @Test
    void theSameSeedTriesTheSameSettingsInTheSameOrder() throws IOException {
        CostModel first = new CostModel(5, NOISE, TunerTest::peak);
        CostModel second = new CostModel(5, NOISE, TunerTest::peak);
        CostModel third = new CostModel(5, NOISE, TunerTest::peak);
        new Tuner(first, SPACE, STANDARD).seed(9).run();
        new Tuner(second, SPACE, STANDARD).seed(9).run();
        new Tuner(third, SPACE, STANDARD).seed(10).run();
        assertEquals(first.measured, second.measured);
        assertFalse(first.measured.equals(third.measured));
    }

    @Test
    void neverOpensWhatTakesMoreMemoryThanAllowed() throws IOException {
        CostModel model = new CostModel(1, NOISE, TunerTest::peak);
        long bound = 8 * CostModel.SLOT_BYTES;
        Tuning tuning = new Tuner(model, SPACE, STANDARD.withPrefetch(32)).memoryBytes(bound).run();
        assertTrue(model.measured.stream().allMatch(candidate -> model.memoryBytes(candidate) <= bound));
        assertTrue(tuning.overMemory() > 0);
        assertEquals("memory: found a limit of 2000 bytes, expected at least 3000, the smallest setting",
                assertThrows(IllegalArgumentException.class,
                        () -> new Tuner(model, SPACE, STANDARD).memoryBytes(2000).run()).getMessage());
    }

    @Test
    void besideAStepTheLeastThatHidesTheLoadingWins() throws IOException {
        // A batch of one worker takes 1 ms, of two half of it: a step of 0.7 ms wants two.
        Tuning tuning = new Tuner(new CostModel(3, 0.02, candidate -> peak(candidate) / 1000), SPACE, STANDARD)
                .stepNanos(700_000).run();
        assertTrue(tuning.hidden());
        assertEquals(2, tuning.chosen().workers(), () -> tuning.besideStep().toString());
        Tuning hopeless = new Tuner(new CostModel(3, 0.02, candidate -> peak(candidate) / 1e6), SPACE, STANDARD)
                .stepNanos(700_000).run();
        assertFalse(hopeless.hidden());
    }

    @Test
    void anInterruptEndsItWithWhatIsKnown() throws IOException {
        Tuning late = new Tuner(new CostModel(1, NOISE, TunerTest::peak).interruptAt(20 * SECOND), SPACE, STANDARD)
                .run();
        assertTrue(late.interrupted());
        assertEquals(3, late.chosen().workers());
        Tuning early = new Tuner(new CostModel(1, NOISE, TunerTest::peak).interruptAt(1), SPACE, STANDARD).run();
        assertTrue(early.interrupted());
        assertEquals(null, early.chosen());
    }

    @Test
    void thePictureIsXmlAndHasADotForEachPoint() throws Exception {
        Tuning tuning = tuner(1, NOISE, TunerTest::peak).run();
        String svg = TuningChart.svg(tuning, 128, "tokens/s", "a < b & c");
        var document = DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder()
                .parse(new InputSource(new StringReader(svg)));
        int points = tuning.curves().stream().filter(curve -> !curve.setting().equals("final"))
                .mapToInt(curve -> curve.points().size()).sum();
        assertEquals(points, document.getElementsByTagName("circle").getLength());
        assertTrue(svg.contains("prefers-color-scheme: dark"));
        assertNotNull(Json.pretty(tuning.toMap()));
    }

    private static Tuner tuner(long seed, double noise, ToDoubleFunction<SearchPoint> rate) {
        return new Tuner(new CostModel(seed, noise, rate), SPACE, STANDARD).seed(seed);
    }
}
