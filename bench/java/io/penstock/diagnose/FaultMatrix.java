// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.device.Device;
import io.penstock.diagnose.Situation.Outcome;
import io.penstock.store.TokenStore;
import io.penstock.testing.Corpora;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * Real loaders in real time with faults put in on purpose: the verdict, its cause and its share must be right within
 * five points, and the verdict must be gone with the fault. Shares are held against a {@link FaultClock} of the same
 * run; and against what was put in, if the clock agrees that it was, which on a machine that does other things it may
 * not. A run that fails is done again, twice at most.
 *
 * <p>Prints the table of {@code docs/diagnosis.md}; what was wrong goes to the standard error, and makes the exit
 * status 1. The same situations are a test on accounts that are played: {@code FaultMatrixTest}.
 */
final class FaultMatrix {

    private static final double POINTS = 0.05;
    private static final double COMPUTE_SHARE = 0.9;
    private static final int ATTEMPTS = 3;
    private static final long SEED = 7;
    private static final int TOKENS = 200_000;

    private final List<String> wrong = new ArrayList<>();

    private FaultMatrix() {
    }

    /** Takes no arguments. */
    public static void main(String[] args) throws Exception {
        Path folder = Files.createTempDirectory("fault-matrix");
        Path file = Corpora.rawU16(folder, TOKENS, SEED);
        var matrix = new FaultMatrix();
        try (Device host = Device.host(); TokenStore store = TokenStore.open(file, "nanogpt")) {
            matrix.run(new Faults(store, host).all());
        } finally {
            delete(folder);
        }
        System.exit(matrix.wrong.isEmpty() ? 0 : 1);
    }

    private static void delete(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    private void run(List<Situation> situations) throws Exception {
        System.out.println("| situation | injected fault | verdict | cause of waiting | injected share | by stopwatch "
                + "| diagnosed |");
        System.out.println("|---|---|---|---|---:|---:|---:|");
        for (Situation situation : situations) {
            String row = attempt(situation, () -> check(situation, run(situation, true)));
            if (row != null) {
                System.out.println(row);
                attempt(situation, () -> control(situation, run(situation, false)));
            }
        }
    }

    private static Outcome run(Situation situation, boolean faulty) throws Exception {
        try (AutoCloseable _ = Faults.beside(situation, faulty)) {
            return situation.run(faulty);
        }
    }

    /** What is not as it should be. */
    private static final class WrongException extends Exception {
        private static final long serialVersionUID = 1;

        WrongException(String what, Outcome outcome) {
            super(what + ":\n" + outcome.summary().text());
        }
    }

    /** A run, and what it gives for the table. */
    private interface Attempt {
        String run() throws Exception;
    }

    /** Null if no attempt went well. */
    private String attempt(Situation situation, Attempt attempt) throws Exception {
        for (int i = 1;; i++) {
            try {
                return attempt.run();
            } catch (WrongException e) {
                if (i == ATTEMPTS) {
                    wrong.add(situation.name());
                    System.err.println(situation.name() + ": " + e.getMessage());
                    return null;
                }
            }
        }
    }

    private static void require(boolean right, String what, Outcome outcome) throws WrongException {
        if (!right) {
            throw new WrongException(what, outcome);
        }
    }

    private static boolean near(double expected, double found) {
        return Math.abs(expected - found) <= POINTS;
    }

    /** Gives a row of the table. */
    private static String check(Situation situation, Outcome outcome) throws WrongException {
        Finding found = outcome.finding(situation.verdict());
        require(found != null, situation.verdict() + " is not found", outcome);
        double timed = situation.timed().applyAsDouble(outcome.clock());
        double share = found.score();
        require(near(timed, share), "found a share of " + share + ", by stopwatch " + timed, outcome);
        require(!near(timed, situation.constructed()) || near(situation.constructed(), share),
                "found a share of " + share + ", put in " + situation.constructed(), outcome);
        Summary.RankSteps rank = outcome.summary().ranks().getFirst();
        require(near(outcome.clock().waited(), rank.fetchMillis() / rank.stepMillis()), "waits", outcome);
        double causes = outcome.summary().input().causes().stream().mapToDouble(Summary.CauseRow::share).sum();
        require(outcome.summary().input().causes().isEmpty() || Math.abs(causes - 1) < 0.01, "causes", outcome);
        Finding input = outcome.finding(Verdict.INPUT_BOUND);
        Object cause = input == null ? null : input.evidence().get("cause");
        require(Objects.equals(situation.cause(), cause), "found the cause " + cause + ", expected "
                + situation.cause(), outcome);
        return String.format(Locale.ROOT, "| %s | %s | %s | %s | %s | %s | %s |", situation.name(),
                situation.injected(), found.verdict().label(), cause == null ? "–" : cause,
                percent(situation.constructed()), percent(timed), percent(share));
    }

    /** A run without the fault is no control where the machine itself does what the fault does. */
    private static String control(Situation situation, Outcome outcome) throws WrongException {
        double from = situation.verdict() == Verdict.COMPUTE_BOUND ? COMPUTE_SHARE : POINTS;
        boolean control = situation.timed().applyAsDouble(outcome.clock()) < from;
        require(!control || outcome.finding(situation.verdict()) == null, "found without the fault", outcome);
        return "";
    }

    private static String percent(double share) {
        return Double.isNaN(share) ? "–" : String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }
}
