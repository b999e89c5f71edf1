// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * What the rows of some steps share that those of the other steps do not have.
 *
 * <p>Each trait of rows, such as the file that they are from, is a hypothesis: rows with it are more frequent in the
 * chosen steps than by chance. How strong a share is, is the chance that as many of the rows of the chosen steps have
 * the trait if rows are drawn without replacement (the hypergeometric tail, Fisher's exact test). Many traits are
 * looked at, traits go together, and the rows of a step may be alike, so that chance alone is no evidence. It is
 * compared with that of the strongest trait where as many steps are chosen at random, many times. The p of a trait is
 * the share of these choices, the real one among them, whose strongest trait is as strong or stronger. So the
 * probability of finding any trait at p ≤ 0.05 where there is nothing is at most 5 %, whatever the traits (Westfall and
 * Young, 1993). It assumes that any steps could have been the chosen ones, which holds for a shuffled order.
 *
 * <p>Random choices are those of a generator with a fixed seed: the same log gives the same p.
 */
final class SharedTraits {

    private static final int MOST_CHOICES = 9_999;
    private static final int FEWEST_CHOICES = 999;
    private static final long WORK = 300_000_000;
    private static final long SEED = 0;

    /**
     * A trait of rows.
     *
     * @param kind such as {@code file}
     * @param value such as the file's path
     */
    record Trait(String kind, String value) {
    }

    /**
     * A trait that rows of at least two of the chosen steps have.
     *
     * @param chosenRows the rows of chosen steps that have it
     * @param otherRows the rows of other steps that have it
     * @param chosenSteps how many of the chosen steps have such a row
     * @param p the chance that any trait is shared as strongly by steps that are chosen at random
     */
    record Shared(Trait trait, long chosenRows, long otherRows, int chosenSteps, double p) {
    }

    /**
     * What was found.
     *
     * @param traits that were compared: rows of two steps or more have them, and not all rows
     * @param choices random ones that the real one was compared with
     * @param chosenRows rows of the chosen steps
     * @param otherRows rows of the other steps
     * @param shared the traits that the chosen steps share, the strongest first
     */
    record Result(int traits, int choices, long chosenRows, long otherRows, List<Shared> shared) {
    }

    private final Map<Trait, Integer> numbers = new HashMap<>();
    private final List<Trait> traits = new ArrayList<>();
    /** Of each step: traits, ascending, and how many of its rows have each. */
    private final List<int[]> traitsOf = new ArrayList<>();
    private final List<int[]> rowsWith = new ArrayList<>();
    private final List<Integer> rowsOf = new ArrayList<>();

    /** Adds a step: the traits of each of its rows. */
    void add(List<? extends Iterable<Trait>> rows) {
        Map<Integer, Integer> counts = new HashMap<>();
        for (Iterable<Trait> row : rows) {
            for (Trait trait : row) {
                int number = numbers.computeIfAbsent(trait, added -> {
                    traits.add(added);
                    return traits.size() - 1;
                });
                counts.merge(number, 1, Integer::sum);
            }
        }
        int[] sorted = counts.keySet().stream().mapToInt(number -> number).sorted().toArray();
        traitsOf.add(sorted);
        rowsWith.add(Arrays.stream(sorted).map(counts::get).toArray());
        rowsOf.add(rows.size());
    }

    /** Compares the first steps that were added, so many, with those after them. */
    Result ofFirst(int chosen) {
        int steps = traitsOf.size();
        int[] stepsWith = new int[traits.size()];
        long[] allRowsWith = new long[traits.size()];
        long rows = 0;
        for (int step = 0; step < steps; step++) {
            rows += rowsOf.get(step);
            int[] ids = traitsOf.get(step);
            for (int i = 0; i < ids.length; i++) {
                stepsWith[ids[i]]++;
                allRowsWith[ids[i]] += rowsWith.get(step)[i];
            }
        }
        int compared = 0;
        long entries = 0;
        for (int id = 0; id < stepsWith.length; id++) {
            boolean isCompared = stepsWith[id] > 1 && allRowsWith[id] < rows;
            compared += isCompared ? 1 : 0;
            entries += isCompared ? stepsWith[id] : 0;
            allRowsWith[id] = isCompared ? allRowsWith[id] : 0;
        }
        Strength strength = new Strength(Math.toIntExact(rows), (int) Math.max(1, rows * chosen / Math.max(1, steps)));
        int[] order = new int[steps];
        Arrays.setAll(order, step -> step);
        Counts counts = new Counts(allRowsWith, strength);
        counts.choose(order, chosen);
        double[] found = counts.strengths();
        List<Shared> shared = new ArrayList<>();
        long chosenRows = 0;
        for (int step = 0; step < chosen; step++) {
            chosenRows += rowsOf.get(step);
        }
        for (int i = 0; i < counts.size; i++) {
            int id = counts.touched[i];
            if (found[i] < 0) {
                shared.add(new Shared(traits.get(id), counts.rows[id], allRowsWith[id] - counts.rows[id],
                        counts.steps[id], found[i]));
            }
        }
        counts.clear();
        long work = Math.max(1, entries * chosen / Math.max(1, steps));
        int choices = Math.clamp(WORK / work, FEWEST_CHOICES, MOST_CHOICES);
        double[] strongest = shared.isEmpty() ? new double[0] : strongest(counts, order, chosen, choices);
        List<Shared> result = shared.stream().sorted(Comparator.comparingDouble(Shared::p)).map(one -> new Shared(
                one.trait, one.chosenRows, one.otherRows, one.chosenSteps,
                (1 + notAbove(strongest, one.p)) / (strongest.length + 1.0))).toList();
        return new Result(compared, choices, chosenRows, rows - chosenRows, result);
    }

    /** The strength of the strongest trait of random choices, ascending. */
    private double[] strongest(Counts counts, int[] order, int chosen, int choices) {
        var random = new SplittableRandom(SEED);
        double[] strongest = new double[choices];
        for (int c = 0; c < choices; c++) {
            for (int i = 0; i < chosen; i++) {
                int other = i + random.nextInt(order.length - i);
                int step = order[i];
                order[i] = order[other];
                order[other] = step;
            }
            counts.choose(order, chosen);
            strongest[c] = Arrays.stream(counts.strengths()).min().orElse(0);
            counts.clear();
        }
        Arrays.sort(strongest);
        return strongest;
    }

    private static int notAbove(double[] sorted, double value) {
        int from = 0;
        for (int to = sorted.length; from < to;) {
            int middle = (from + to) >>> 1;
            if (sorted[middle] <= value) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    /** The rows with each trait in the steps of a choice. */
    private final class Counts {

        private final long[] allRowsWith;
        private final Strength strength;
        private final int[] rows;
        private final int[] steps;
        private final int[] touched;
        private int size;

        Counts(long[] allRowsWith, Strength strength) {
            this.allRowsWith = allRowsWith;
            this.strength = strength;
            this.rows = new int[allRowsWith.length];
            this.steps = new int[allRowsWith.length];
            this.touched = new int[allRowsWith.length];
        }

        void choose(int[] order, int chosen) {
            for (int i = 0; i < chosen; i++) {
                int[] ids = traitsOf.get(order[i]);
                int[] with = rowsWith.get(order[i]);
                for (int j = 0; j < ids.length; j++) {
                    int id = ids[j];
                    if (allRowsWith[id] > 0) {
                        if (steps[id]++ == 0) {
                            touched[size++] = id;
                        }
                        rows[id] += with[j];
                    }
                }
            }
        }

        /** Of each trait that was touched: the logarithm of its chance; 0 for one in a single step. */
        double[] strengths() {
            double[] all = new double[size];
            for (int i = 0; i < size; i++) {
                int id = touched[i];
                all[i] = steps[id] < 2 ? 0 : strength.of((int) allRowsWith[id], rows[id]);
            }
            return all;
        }

        void clear() {
            for (int i = 0; i < size; i++) {
                rows[touched[i]] = 0;
                steps[touched[i]] = 0;
            }
            size = 0;
        }
    }

    /**
     * The logarithm of the chance that of so many rows drawn without replacement, at least some have a trait. Drawn are
     * as many rows as the chosen steps have on average, the same for all choices.
     */
    static final class Strength {

        private static final double NEGLIGIBLE = 1e-17;

        private final int rows;
        private final int drawn;
        private final double[] logFactorials;
        private final Map<Integer, double[]> known = new HashMap<>();

        Strength(int rows, int drawn) {
            this.rows = rows;
            this.drawn = drawn;
            this.logFactorials = new double[rows + 1];
            for (int i = 2; i <= rows; i++) {
                logFactorials[i] = logFactorials[i - 1] + StrictMath.log(i);
            }
        }

        private double logChoose(int of, int some) {
            return logFactorials[of] - logFactorials[some] - logFactorials[of - some];
        }

        /** The logarithm of the chance of {@code found} rows or more, of {@code with} that have the trait. */
        double of(int with, int found) {
            int most = Math.min(with, drawn);
            double[] table = known.computeIfAbsent(with, _ -> {
                double[] none = new double[most + 1];
                Arrays.fill(none, Double.NaN);
                return none;
            });
            int at = Math.min(found, most);             // a choice of long steps may have more rows than are drawn
            if (Double.isNaN(table[at])) {
                table[at] = computed(with, at, most);
            }
            return table[at];
        }

        private double computed(int with, int found, int most) {
            if ((double) found * rows <= (double) with * drawn || drawn - found > rows - with) {
                return 0;                               // no more than by chance
            }
            double sum = 1;
            double term = 1;
            for (int i = found; i < most && term > NEGLIGIBLE * sum; i++) {
                term *= (double) (with - i) * (drawn - i) / ((i + 1.0) * (rows - with - drawn + i + 1.0));
                sum += term;
            }
            return Math.min(0, logChoose(with, found) + logChoose(rows - with, drawn - found) - logChoose(rows, drawn)
                    + StrictMath.log(sum));
        }
    }
}
