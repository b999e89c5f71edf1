package io.penstock.diagnose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.device.Device;
import io.penstock.diagnose.Situation.Outcome;
import io.penstock.store.StoreFormat;
import io.penstock.store.TokenStore;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/**
 * Real loaders with faults put in on purpose: the verdict, its cause and its share must be right within five points,
 * and the verdict must be gone with the fault. Shares are held against a {@link FaultClock} of the same run; and
 * against what was put in, if the clock agrees that it was, which on a machine that does other things it may not. A run
 * that fails is done again, twice at most.
 *
 * <p>The table in {@code docs/diagnosis.md} is what this writes to {@code target/fault-matrix.md}.
 */
class FaultMatrixTest {

    private static final double POINTS = 0.05;
    private static final double COMPUTE_SHARE = 0.9;
    private static final int ATTEMPTS = 3;
    private static final long SEED = 7;
    private static final int TOKENS = 200_000;
    private static final List<String> TABLE = new ArrayList<>();

    @TempDir
    private static Path folder;
    private static final Device HOST = Device.host();
    private static TokenStore store;

    @BeforeAll
    static void open() throws IOException {
        store = TokenStore.open(Corpora.rawU16(folder, TOKENS, SEED), StoreFormat.NANOGPT);
    }

    @AfterAll
    static void report() throws IOException {
        HOST.close();
        store.close();
        List<String> lines = new ArrayList<>(List.of(
                "| situation | put in | verdict found | cause of waiting | share put in | by stopwatch | found |",
                "|---|---|---|---|---:|---:|---:|"));
        lines.addAll(TABLE);
        Files.write(Files.createDirectories(Path.of("target")).resolve("fault-matrix.md"), lines);
    }

    @TestFactory
    Stream<DynamicTest> everyFaultIsFoundWithItsCauseAndShare() {
        return new Faults(store, HOST).all().stream()
                .map(situation -> DynamicTest.dynamicTest(situation.name(), () -> {
                    attempt(() -> TABLE.add(check(situation, run(situation, true))));
                    attempt(() -> control(situation, run(situation, false)));
                }));
    }

    /** A matrix that could not fail would prove nothing. */
    @Test
    void wrongExpectationsFail() throws Exception {
        Situation right = new Faults(store, HOST).all().getFirst();
        Outcome outcome = run(right, true);
        assertThrows(AssertionError.class, () -> checkControl(right, outcome), "it is there");
        assertThrows(AssertionError.class, () -> check(right, run(right, false)), "it is not there");
        assertThrows(AssertionError.class, () -> check(expecting(right, Verdict.TRANSFORM, "decode", 0), outcome));
        assertThrows(AssertionError.class, () -> check(expecting(right, Verdict.DECODE, "collate", 0), outcome));
        assertThrows(AssertionError.class, () -> check(expecting(right, Verdict.DECODE, "decode", 0.08), outcome));
        assertThrows(AssertionError.class, () -> check(expecting(right, Verdict.DECODE, "decode", -0.08), outcome));
    }

    private static Situation expecting(Situation right, Verdict verdict, String cause, double off) {
        return new Situation(right.name(), right.injected(), right.loader(), right.trainer(), verdict, cause,
                right.constructed(), clock -> right.timed().applyAsDouble(clock) + off);
    }

    private static Outcome run(Situation situation, boolean faulty) throws Exception {
        try (AutoCloseable _ = Faults.beside(situation, faulty)) {
            return situation.run(faulty);
        }
    }

    /** What a test does. */
    private interface Attempt {
        void run() throws Exception;
    }

    private static void attempt(Attempt attempt) throws Exception {
        for (int i = 1;; i++) {
            try {
                attempt.run();
                return;
            } catch (AssertionError | TestAbortedException e) {
                if (i == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    /** Gives a row of the table. */
    private static String check(Situation situation, Outcome outcome) {
        String text = outcome.summary().text();
        Finding found = outcome.finding(situation.verdict());
        assertNotNull(found, () -> situation.verdict() + " is not found:\n" + text);
        double timed = situation.timed().applyAsDouble(outcome.clock());
        double share = found.score();
        assertEquals(timed, share, POINTS, () -> "share by stopwatch:\n" + text);
        if (Math.abs(timed - situation.constructed()) < POINTS) {
            assertEquals(situation.constructed(), share, POINTS, () -> "share that was put in:\n" + text);
        }
        assertWaits(outcome, text);
        Finding input = outcome.finding(Verdict.INPUT_BOUND);
        if (situation.cause() == null) {
            assertNull(input, text);
        } else {
            assertNotNull(input, text);
            assertEquals(situation.cause(), input.evidence().get("cause"), text);
        }
        return String.format(Locale.ROOT, "| %s | %s | %s | %s | %s | %s | %s |", situation.name(),
                situation.injected(), found.verdict().label(), input == null ? "–" : input.evidence().get("cause"),
                percent(situation.constructed()), percent(timed), percent(share));
    }

    /** What the trainer waited, with the copy, and what its causes add up to. */
    private static void assertWaits(Outcome outcome, String text) {
        Summary.RankSteps rank = outcome.summary().ranks().getFirst();
        assertEquals(outcome.clock().waited(), rank.fetchMillis() / rank.stepMillis(), POINTS, text);
        double causes = outcome.summary().input().causes().stream().mapToDouble(Summary.CauseRow::share).sum();
        assertTrue(outcome.summary().input().causes().isEmpty() || Math.abs(causes - 1) < 0.01, text);
    }

    /** A run without the fault is no control where the machine itself does what the fault does. */
    private static void control(Situation situation, Outcome outcome) {
        double from = situation.verdict() == Verdict.COMPUTE_BOUND ? COMPUTE_SHARE : POINTS;
        assumeTrue(situation.timed().applyAsDouble(outcome.clock()) < from, "other programs do what the fault does");
        checkControl(situation, outcome);
    }

    private static void checkControl(Situation situation, Outcome outcome) {
        assertNull(outcome.finding(situation.verdict()), () -> "without the fault:\n" + outcome.summary().text());
    }

    private static String percent(double share) {
        return Double.isNaN(share) ? "–" : String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }
}
