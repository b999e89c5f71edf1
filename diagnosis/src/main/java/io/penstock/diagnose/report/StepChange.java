// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.report;

import io.penstock.diagnose.Summary.StepPoint;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The change of a run's mean step, with a 95 % confidence interval by the moving block bootstrap (Künsch 1989; Efron
 * and Tibshirani, chapter 8). Means of both runs are drawn repeatedly from blocks of neighboring points, so slow phases
 * of a machine, which make neighbors alike, widen the interval as they should. The block length is the square root of
 * the number of points. The seed is fixed: the same runs give the same interval.
 *
 * @param ratio the later mean over the earlier one, minus 1
 * @param low the interval's lower end
 * @param high its upper end
 */
public record StepChange(double ratio, double low, double high) {

    /** The smallest series that reveals its noise. */
    static final int MIN_POINTS = 10;

    private static final int DRAWS = 4000;
    private static final double TAIL = 0.025;
    private static final long SEED = 42;

    /** Without enough data. */
    static final StepChange UNKNOWN = new StepChange(Double.NaN, Double.NaN, Double.NaN);

    static StepChange between(List<StepPoint> before, List<StepPoint> after) {
        if (before.size() < MIN_POINTS || after.size() < MIN_POINTS) {
            return UNKNOWN;
        }
        var random = new SplittableRandom(SEED);
        var earlier = new Series(before);
        var later = new Series(after);
        double[] drawn = new double[DRAWS];
        Arrays.setAll(drawn, _ -> later.drawMean(random) / earlier.drawMean(random) - 1);
        Arrays.sort(drawn);
        return new StepChange(later.mean() / earlier.mean() - 1, drawn[(int) (TAIL * DRAWS)],
                drawn[(int) ((1 - TAIL) * DRAWS) - 1]);
    }

    /** Whether noise alone cannot explain it. */
    boolean isBeyondNoise() {
        return low > 0 || high < 0;
    }

    /** Step times in order, each with the number of steps it averages. */
    private static final class Series {

        private final double[] millis;
        private final double[] steps;
        private final int block;

        Series(List<StepPoint> points) {
            millis = points.stream().mapToDouble(StepPoint::stepMillis).toArray();
            steps = points.stream().mapToDouble(StepPoint::steps).toArray();
            block = (int) Math.ceil(Math.sqrt(millis.length));
        }

        double mean() {
            double sum = 0;
            double count = 0;
            for (int i = 0; i < millis.length; i++) {
                sum += millis[i] * steps[i];
                count += steps[i];
            }
            return sum / count;
        }

        /** Draws as many points as there are, block by block. */
        double drawMean(SplittableRandom random) {
            double sum = 0;
            double count = 0;
            int drawn = 0;
            while (drawn < millis.length) {
                int first = random.nextInt(millis.length - block + 1);
                for (int i = first; i < first + block && drawn < millis.length; i++, drawn++) {
                    sum += millis[i] * steps[i];
                    count += steps[i];
                }
            }
            return sum / count;
        }
    }
}
