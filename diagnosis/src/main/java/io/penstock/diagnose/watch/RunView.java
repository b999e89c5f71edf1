// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.watch;

import io.penstock.json.Json;
import io.penstock.json.RecordJson;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * A run as its ranks describe it: who holds the others up and why, who is silent, and what waiting costs.
 *
 * <p><b>The straggler.</b> Ranks that exchange gradients take equally long steps: the fast ones wait for the slow one
 * in their backward pass. So what a rank does by itself is compared: its step without the backward pass or, where that
 * is not marked, without computing. Ranks are named that have 10 % of the typical step more than the median rank; so
 * are those whose whole step is 10 % longer than the median. The cause is the part with the largest excess. Twenty
 * steps are needed.
 *
 * @param ranks stragglers first, the slowest before the others; then silent ranks, then by number
 * @param stragglers a sentence each, the slowest first
 * @param problems places that gave no status, with the reason
 * @param stepsPerSecond of the median rank
 * @param samplesPerSecond of all ranks together
 * @param waitedGpuHours time that all ranks waited for input since the run began, a GPU each
 * @param waitedMoney the same at the price of an hour; NaN without a price
 */
public record RunView(List<RankRow> ranks, List<String> stragglers, List<String> problems, double stepsPerSecond,
        double samplesPerSecond, double waitedGpuHours, double waitedMoney) {

    private static final double NAMED = 0.10;
    private static final int LEAST_STEPS = 20;
    /** A median below this share of the step is not worth a ratio. */
    private static final double NOTHING = 0.001;
    private static final double SILENT_SECONDS = 15;
    private static final double SILENT_STEPS = 20;
    private static final double SECONDS_AN_HOUR = 3600;

    /**
     * A rank.
     *
     * @param status what it said last
     * @param silentSeconds since it said or did something; 0 if it is not silent
     * @param note why it is first, or what it does; empty for an ordinary rank
     */
    public record RankRow(RankStatus status, double silentSeconds, String note) {
    }

    /** Remembers what ranks said before: a rank that answers no more stays in the view, as silent. */
    public static final class History {

        private final Map<Integer, RankStatus> latest = new TreeMap<>();
        private final Map<Integer, Long> heardAt = new HashMap<>();
        private final double gpuHourPrice;

        /**
         * Begins without ranks.
         *
         * @param gpuHourPrice price of a GPU's hour; NaN without one
         */
        public History(double gpuHourPrice) {
            this.gpuHourPrice = gpuHourPrice;
        }

        /**
         * {@return the view of what was said now and before}
         *
         * @param answers of all places
         * @param nowMillis the time, since 1970
         */
        public RunView add(List<Peers.Reply> answers, long nowMillis) {
            Set<String> problems = new LinkedHashSet<>();
            Set<Integer> said = new HashSet<>();
            for (Peers.Reply answer : answers) {
                if (!answer.problem().isEmpty()) {
                    problems.add(answer.place() + ": " + answer.problem());
                }
                for (RankStatus status : answer.statuses()) {
                    if (!said.add(status.rank())) {
                        problems.add(answer.place() + ": a second rank " + status.rank() + ", which is left out");
                        continue;
                    }
                    RankStatus before = latest.put(status.rank(), status);
                    // Another machine's clock is not trusted, but for a file that nobody has changed since we look.
                    if (before == null) {
                        heardAt.put(status.rank(), Math.min(nowMillis, status.atMillis()));
                    } else if (before.atMillis() != status.atMillis()) {
                        heardAt.put(status.rank(), nowMillis);
                    }
                }
            }
            Map<Integer, Double> silent = new HashMap<>();
            latest.forEach((rank, status) -> silent.put(rank,
                    silence(status, (nowMillis - heardAt.getOrDefault(rank, nowMillis)) / 1e3)));
            return of(List.copyOf(latest.values()), silent, List.copyOf(problems), gpuHourPrice);
        }
    }

    private static double silence(RankStatus status, double unheardSeconds) {
        double patience = Math.max(SILENT_SECONDS, SILENT_STEPS * status.stepMillis() / 1e3);
        return unheardSeconds >= SILENT_SECONDS ? unheardSeconds
                : status.doing().isEmpty() && status.idleSeconds() >= patience ? status.idleSeconds() : 0;
    }

    private static RunView of(List<RankStatus> ranks, Map<Integer, Double> silent, List<String> problems,
            double price) {
        List<RankStatus> live = ranks.stream().filter(rank -> silent.getOrDefault(rank.rank(), 0.0) == 0
                && rank.window() >= LEAST_STEPS && rank.stepMillis() > 0).toList();
        Map<Integer, Culprit> culprits = new LinkedHashMap<>();
        culprits(live).forEach(one -> culprits.put(one.rank, one));
        List<Integer> order = List.copyOf(culprits.keySet());
        List<RankRow> rows = new ArrayList<>();
        for (RankStatus rank : ranks) {
            double quiet = silent.getOrDefault(rank.rank(), 0.0);
            rows.add(new RankRow(rank, quiet, culprits.containsKey(rank.rank()) ? culprits.get(rank.rank()).cause
                    : quiet > 0 ? String.format(Locale.ROOT, "silent for %.0f s", quiet)
                    : rank.doing()));
        }
        rows.sort(Comparator.<RankRow>comparingInt(row -> culprits.containsKey(row.status.rank())
                        ? order.indexOf(row.status.rank()) : row.silentSeconds > 0 ? order.size() : order.size() + 1)
                .thenComparingInt(row -> row.status.rank()));
        double hours = ranks.stream().mapToDouble(RankStatus::waitedSeconds).filter(value -> value > 0).sum()
                / SECONDS_AN_HOUR;
        return new RunView(List.copyOf(rows), culprits.values().stream()
                        .map(one -> "rank " + one.rank + ": " + one.cause).toList(),
                problems, median(live, RankStatus::stepsPerSecond),
                live.stream().mapToDouble(RankStatus::samplesPerSecond).filter(value -> value > 0).sum(), hours,
                hours * price);
    }

    // ---- who holds the others up

    private record Culprit(int rank, String cause) {
    }

    /** Those who are slower than the median rank by enough, the slowest first. */
    private static List<Culprit> culprits(List<RankStatus> ranks) {
        if (ranks.size() < 2) {
            return List.of();
        }
        boolean marked = ranks.stream().allMatch(rank -> rank.exchangeMillis() >= 0);
        double step = median(ranks, RankStatus::stepMillis);
        List<Culprit> named = new ArrayList<>(
                slow(ranks, step, rank -> rank.stepMillis() - together(rank, marked), marked, true));
        slow(ranks, step, RankStatus::stepMillis, marked, false).stream()
                .filter(one -> named.stream().noneMatch(other -> other.rank == one.rank)).forEach(named::add);
        return named;
    }

    /** The part of a step in which ranks may wait for each other. */
    private static double together(RankStatus rank, boolean marked) {
        return marked ? rank.exchangeMillis() : rank.millis(RankStatus.COMPUTE);
    }

    private static List<Culprit> slow(List<RankStatus> ranks, double step, ToDoubleFunction<RankStatus> time,
            boolean marked, boolean alone) {
        double median = median(ranks, time);
        return ranks.stream().filter(rank -> time.applyAsDouble(rank) - median >= NAMED * step)
                .sorted(Comparator.comparingDouble(time).reversed())
                .map(rank -> culprit(rank, ranks, step, marked, alone)).toList();
    }

    private static Culprit culprit(RankStatus slowest, List<RankStatus> ranks, double step, boolean marked,
            boolean alone) {
        Set<String> names = new LinkedHashSet<>();
        ranks.forEach(rank -> rank.parts().forEach(part -> names.add(part.name())));
        String cause = "";
        double largest = 0;
        double usual = 0;
        for (String name : names) {
            if (alone && !marked && name.equals(RankStatus.COMPUTE)) {
                continue;
            }
            ToDoubleFunction<RankStatus> own = rank -> rank.millis(name)
                    - (alone && name.equals(RankStatus.COMPUTE) ? together(rank, marked) : 0);
            double median = median(ranks, own);
            double excess = own.applyAsDouble(slowest) - median;
            if (excess > largest) {
                largest = excess;
                usual = median;
                cause = name;
            }
        }
        double millis = largest + usual;
        String ratio = usual > NOTHING * step ? String.format(Locale.ROOT, "%.1f × the median", millis / usual)
                : "the others have none";
        return new Culprit(slowest.rank(), cause.replace('_', ' ') + " " + ratio + ", " + text(millis) + " of "
                + text(slowest.stepMillis()) + " ms");
    }

    private static String text(double millis) {
        return String.format(Locale.ROOT, millis < 10 ? "%.2f" : millis < 100 ? "%.1f" : "%.0f", millis);
    }

    /** The lower one of two: with two ranks, the other one. */
    private static double median(List<RankStatus> ranks, ToDoubleFunction<RankStatus> what) {
        double[] sorted = ranks.stream().mapToDouble(what).filter(value -> !Double.isNaN(value)).sorted().toArray();
        return sorted.length == 0 ? Double.NaN : sorted[(sorted.length - 1) / 2];
    }

    /** {@return this for a JSON writer} */
    public Map<String, @Nullable Object> toMap() {
        Map<String, @Nullable Object> map = Json.members();
        map.putAll(RecordJson.members(this));
        return map;
    }
}
