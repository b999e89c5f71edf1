package io.penstock.tune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Settings that take turns in short rounds until it is settled which are slower, or time is up.
 *
 * <p>It looks at the rounds a few times only. At each look the settings that are shown to be slower drop out, and the
 * rest get the longer a run for it. Every comparison of every look has its share of the risk {@link #RISK}: that a
 * setting which is as fast as all others is called slower happens in at most so many races.
 */
final class Race {

    /** The risk that one setting of a race is called slower and is not. */
    static final double RISK = 0.05;
    /** A loss of throughput that is of no account. */
    static final double TOLERANCE = 0.03;
    private static final int[] LOOKS = {9, 13, 19, 28, 41};
    /** A setting which in each of the first rounds gives less than this of the leader is not worth more of them. */
    private static final double HOPELESS = 0.6;
    private static final int HOPELESS_ROUNDS = 4;
    /** One that the rounds cannot tell from the leader counts as slower nevertheless if its estimate is below this. */
    private static final double FAR_BEHIND = 0.93;

    private final Workbench bench;
    private final SplittableRandom random;
    private final List<Runner> runners = new ArrayList<>();
    private final double alpha;
    private boolean interrupted;

    /** One setting in the race. */
    private static final class Runner {
        private final Candidate candidate;
        private double[] rates = {};
        private boolean running = true;

        Runner(Candidate candidate) {
            this.candidate = candidate;
        }

        void add(double rate) {
            rates = Arrays.copyOf(rates, rates.length + 1);
            rates[rates.length - 1] = rate;
        }

        double median() {
            double[] sorted = rates.clone();
            Arrays.sort(sorted);
            return sorted.length == 0 ? 0 : PairedRounds.median(sorted);
        }
    }

    Race(Workbench bench, List<Candidate> candidates, SplittableRandom random) {
        this.bench = bench;
        this.random = random;
        candidates.stream().distinct().sorted(Candidate.BY_COST).map(Runner::new).forEach(runners::add);
        this.alpha = RISK / LOOKS.length / Math.max(1, runners.size() - 1);
    }

    /**
     * Runs. What was measured by then is there also after an interrupt, which {@link #wasInterrupted} tells.
     *
     * @param roundNanos the length of a round of one setting
     * @param untilNanos when to end, as the bench counts, if there were enough rounds for a look
     * @param latestNanos when to end whatever there was; a round that has begun is finished
     * @param afterRound run behind each round of one setting
     */
    void run(long roundNanos, long untilNanos, long latestNanos, Runnable afterRound) throws IOException {
        try {
            for (Runner runner : runners) {
                bench.measure(runner.candidate, Math.max(1, roundNanos / 2), 0);
                afterRound.run();
            }
            for (int round = 1; round <= LOOKS[LOOKS.length - 1]; round++) {
                for (Runner runner : shuffled()) {
                    runner.add(bench.measure(runner.candidate, roundNanos, 0).samplesPerSecond());
                    afterRound.run();
                }
                if (round == HOPELESS_ROUNDS) {
                    dropHopeless();
                }
                long until = round < LOOKS[0] ? latestNanos : untilNanos;
                if (Arrays.binarySearch(LOOKS, round) >= 0 && settled() || bench.nanoTime() >= until) {
                    return;
                }
            }
        } catch (InterruptedException _) {
            interrupted = true;
        }
    }

    boolean wasInterrupted() {
        return interrupted;
    }

    /** The order of one round, so that no setting always follows the same other one. */
    private List<Runner> shuffled() {
        List<Runner> order = new ArrayList<>(runners.stream().filter(runner -> runner.running).toList());
        for (int i = order.size() - 1; i > 0; i--) {
            order.set(i, order.set(random.nextInt(i + 1), order.get(i)));
        }
        return order;
    }

    private @Nullable Runner leader() {
        return runners.stream().filter(runner -> runner.running && runner.rates.length > 0)
                .max((a, b) -> Double.compare(a.median(), b.median())).orElse(null);
    }

    private void dropHopeless() {
        Runner leader = leader();
        if (leader == null) {
            return;
        }
        for (Runner runner : runners) {
            boolean hopeless = runner != leader;
            for (int i = 0; i < runner.rates.length && hopeless; i++) {
                hopeless = runner.rates[i] < HOPELESS * leader.rates[i];
            }
            runner.running &= !hopeless;
        }
    }

    /** Drops those that are shown to be slower; true if no two are left that are not told apart. */
    private boolean settled() {
        Runner leader = leader();
        if (leader == null) {
            return true;
        }
        boolean settled = true;
        for (Runner runner : runners) {
            if (runner.running && runner != leader) {
                Verdict verdict = verdict(PairedRounds.of(runner.rates, leader.rates, alpha));
                runner.running = verdict != Verdict.SLOWER;
                settled &= verdict != Verdict.WITHIN_NOISE;
            }
        }
        return settled;
    }

    private static Verdict verdict(PairedRounds toLeader) {
        return toLeader.low() > 1 - TOLERANCE ? Verdict.SAME
                : toLeader.high() < 1 ? Verdict.SLOWER : Verdict.WITHIN_NOISE;
    }

    /** The race as a curve; null if nothing was measured. */
    @Nullable Curve curve(String setting) {
        Runner leader = leader();
        if (leader == null) {
            return null;
        }
        List<Measured> points = runners.stream().filter(runner -> runner.rates.length > 0)
                .map(runner -> measured(runner, leader)).toList();
        Measured chosen = points.stream().filter(Measured::isAsFast).findFirst().orElseThrow();
        return new Curve(setting, points, chosen);
    }

    private Measured measured(Runner runner, Runner leader) {
        PairedRounds toLeader = PairedRounds.of(runner.rates, leader.rates, alpha);
        Verdict verdict = runner == leader ? Verdict.FASTEST : !runner.running ? Verdict.SLOWER : verdict(toLeader);
        if (verdict == Verdict.WITHIN_NOISE && toLeader.ratio() < FAR_BEHIND) {
            verdict = Verdict.SLOWER;
        }
        double[] sorted = runner.rates.clone();
        Arrays.sort(sorted);
        int outside = medianRank(sorted.length);
        return new Measured(runner.candidate, bench.memoryBytes(runner.candidate), sorted.length, runner.median(),
                sorted[outside], sorted[sorted.length - 1 - outside], toLeader, verdict);
    }

    /** How many order statistics at either end lie outside of the median's 95 % interval (the sign test's). */
    private static int medianRank(int n) {
        double allowed = 0.025 * Math.pow(2, n);
        double below = 0;
        double ways = 1;
        int outside = 0;
        while (below + ways <= allowed) {
            below += ways;
            outside++;
            ways = ways * (n - outside + 1) / outside;
        }
        return Math.max(0, outside - 1);
    }
}
