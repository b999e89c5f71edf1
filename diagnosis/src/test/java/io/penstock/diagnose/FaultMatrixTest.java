// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.diagnose.PlayedFaults.Played;
import io.penstock.telemetry.BatchAccount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Accounts of loaders and trainers with faults put in: the verdict, its cause and its share must be those that follow
 * from what was put in, and the verdict must be gone with the fault. The accounts are kept in a loader's own tables.
 */
class FaultMatrixTest {

    /** A cause has whole nanoseconds of a wait. */
    private static final double EXACT = 1e-6;

    @TestFactory
    Stream<DynamicTest> everyFaultIsFoundWithItsCauseAndShare() {
        return PlayedFaults.all().stream().map(played -> DynamicTest.dynamicTest(played.name(), () -> {
            check(played, played.scenario(true).play());
            checkControl(played, played.scenario(false).play());
        }));
    }

    /** A matrix that could not fail would prove nothing. */
    @Test
    void wrongExpectationsFail() {
        Played right = PlayedFaults.all().getFirst();
        Recording faulty = right.scenario(true).play();
        assertThrows(AssertionError.class, () -> checkControl(right, faulty), "it is there");
        assertThrows(AssertionError.class, () -> check(right, right.scenario(false).play()), "it is not there");
        assertThrows(AssertionError.class, () -> check(expecting(right, Verdict.TRANSFORM, "decode", 0), faulty));
        assertThrows(AssertionError.class, () -> check(expecting(right, Verdict.DECODE, "collate", 0), faulty));
        assertThrows(AssertionError.class, () -> check(expecting(right, Verdict.DECODE, "decode", 1e-5), faulty));
        assertThrows(AssertionError.class, () -> check(expecting(right, Verdict.DECODE, "decode", -1e-5), faulty));
    }

    /** What the benchmark runs in real time, and wrote to the document, are these situations. */
    @Test
    void theTableOfTheDocumentHasTheseSituationsVerdictsAndCauses() throws IOException {
        List<String> rows = Files.readAllLines(Path.of("docs", "diagnosis.md"));
        int begin = rows.indexOf("| situation | injected fault | verdict | cause of waiting | injected share "
                + "| by stopwatch | diagnosed |") + 2;
        List<String> table = rows.stream().skip(begin).takeWhile(row -> row.startsWith("|"))
                .map(row -> row.split("\\|")).map(cells -> Arrays.asList(cells).stream().map(String::strip).toList())
                .map(cells -> cells.get(1) + ": " + cells.get(3) + ", " + cells.get(4)).toList();
        assertEquals(PlayedFaults.all().stream().map(played -> played.name() + ": " + played.verdict().label() + ", "
                + (played.cause() == null ? "–" : played.cause())).toList(), table);
    }

    private static Played expecting(Played right, Verdict verdict, String cause, double off) {
        return new Played(right.name(), right.base(), right.fault(), right.control(), verdict, cause,
                right.share() + off);
    }

    private static void check(Played played, Recording recording) {
        Summary summary = Diagnoses.summary(recording);
        String text = summary.text();
        Finding found = finding(summary, played.verdict());
        assertNotNull(found, () -> played.verdict() + " is not found:\n" + text);
        assertEquals(played.share(), found.score(), EXACT, text);
        Summary.RankSteps rank = summary.ranks().getFirst();
        assertEquals(waited(recording), rank.fetchMillis() / rank.stepMillis(), EXACT, text);
        double causes = summary.input().causes().stream().mapToDouble(Summary.CauseRow::share).sum();
        assertEquals(summary.input().causes().isEmpty() ? 0 : 1, causes, EXACT, text);
        Finding input = finding(summary, Verdict.INPUT_BOUND);
        if (played.cause() == null) {
            assertNull(input, text);
        } else {
            assertNotNull(input, text);
            assertEquals(played.cause(), input.evidence().get("cause"), text);
        }
    }

    private static void checkControl(Played played, Recording recording) {
        Summary summary = Diagnoses.summary(recording);
        assertNull(finding(summary, played.verdict()), () -> "without the fault:\n" + summary.text());
    }

    private static Finding finding(Summary summary, Verdict verdict) {
        return summary.findings().stream().filter(found -> found.verdict() == verdict).findFirst().orElse(null);
    }

    /** What the trainer waited, of the time from its second request to the end. */
    private static double waited(Recording recording) {
        List<BatchAccount> accounts = recording.accounts();
        double waits = accounts.stream().skip(1).mapToLong(account -> account.taking().waitNanos()).sum();
        return waits / (accounts.getLast().taking().closedAt() - accounts.get(1).taking().requestedAt());
    }
}
