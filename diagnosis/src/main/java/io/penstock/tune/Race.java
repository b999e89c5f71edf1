// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Settings that take turns in short rounds until the slower ones are known, or time is up.
 *
 * <p>It evaluates the rounds only a few times. Each time, settings shown to be slower drop out, and the others run
 * longer. All comparisons share the risk {@link #RISK}: at most that share of races wrongly calls a setting slower that
 * is as fast as all others.
 */
final class Race {

    /** The risk per race of wrongly calling a setting slower. */
    static final double RISK = 0.05;
    /** A negligible loss of throughput. */
    static final double TOLERANCE = 0.03;
    private static final int[] LOOKS = {9, 13, 19, 28, 41};
    /** A setting below this share of the leader in each of the first rounds drops out at once. */
    private static final double HOPELESS = 0.6;
    private static final int HOPELESS_ROUNDS = 4;
    /** A setting that the rounds cannot separate from the leader still counts as slower below this estimate. */
    private static final double FAR_BEHIND = 0.93;

    private final Workbench bench;
    private final SplittableRandom random;
    private final List<Runner> runners = new ArrayList<>();
    private final double alpha;
    private boolean interrupted;

    private static final class Runner {
        private final SearchPoint candidate;
        private double[] rates = {};
        private boolean running = true;

        Runner(SearchPoint candidate) {
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

    Race(Workbench bench, List<SearchPoint> candidates, SplittableRandom random) {
        this.bench = bench;
        this.random = random;
        candidates.stream().distinct().sorted(SearchPoint.BY_COST).map(Runner::new).forEach(runners::add);
        this.alpha = RISK / LOOKS.length / Math.max(1, runners.size() - 1);
    }

    /**
     * Runs the race in rounds of a length, until {@code untilNanos} by the bench's clock if there were enough rounds
     * for an evaluation, at the latest until {@code latestNanos}. After an interrupt, which {@link #wasInterrupted}
     * reports, the measurements so far remain.
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

    /** A random order for one round, so that no setting always follows the same other one. */
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

    /** Drops settings shown to be slower; returns true if no two remaining ones are undecided. */
    private boolean settled() {
        Runner leader = leader();
        if (leader == null) {
            return true;
        }
        boolean settled = true;
        for (Runner runner : runners) {
            if (runner.running && runner != leader) {
                Standing standing = standing(PairedRounds.of(runner.rates, leader.rates, alpha));
                runner.running = standing != Standing.SLOWER;
                settled &= standing != Standing.WITHIN_NOISE;
            }
        }
        return settled;
    }

    private static Standing standing(PairedRounds toLeader) {
        return toLeader.low() > 1 - TOLERANCE ? Standing.SAME
                : toLeader.high() < 1 ? Standing.SLOWER : Standing.WITHIN_NOISE;
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
        Standing standing = runner == leader ? Standing.FASTEST
                : !runner.running ? Standing.SLOWER : standing(toLeader);
        if (standing == Standing.WITHIN_NOISE && toLeader.ratio() < FAR_BEHIND) {
            standing = Standing.SLOWER;
        }
        double[] sorted = runner.rates.clone();
        Arrays.sort(sorted);
        int outside = medianRank(sorted.length);
        return new Measured(runner.candidate, bench.memoryBytes(runner.candidate), sorted.length, runner.median(),
                sorted[outside], sorted[sorted.length - 1 - outside], toLeader, standing);
    }

    /** The number of order statistics outside the median's 95 % interval at each end (sign test). */
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
