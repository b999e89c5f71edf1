// SPDX-License-Identifier: Apache-2.0
package clicks;

import io.penstock.loader.Batch;
import io.penstock.memory.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Logistic regression with a weight for each hashed category and each pair of site and ad, trained by Adagrad. */
final class Model {

    private static final String[] CATEGORIES = {"user", "site", "ad", "device"};
    /** What the numbers are about: hours, years and seconds become about 1. */
    private static final float[] SCALES = {24, 100, 60};
    private static final int BUCKETS = 65_536;
    private static final int NUMBERS_AT = (CATEGORIES.length + 1) * BUCKETS;
    private static final int BIAS_AT = NUMBERS_AT + 2 * SCALES.length;
    private static final double RATE = 0.05;

    private final double[] weights = new double[BIAS_AT + 1];
    private final double[] squares = new double[weights.length];
    private final int[] used = new int[CATEGORIES.length + 2 + 2 * SCALES.length];
    private final double[] inputs = new double[used.length];
    private long rows;
    private long clicks;

    /** Returns the sum of the losses of a batch, and trains on it if wanted. */
    double loss(Batch batch, boolean trains) {
        MemorySegment click = batch.tensor("click").segment();
        MemorySegment numbers = batch.tensor("numbers").segment();
        MemorySegment mask = batch.tensor("numbers.mask").segment();
        MemorySegment[] categories = new MemorySegment[CATEGORIES.length];
        for (int c = 0; c < CATEGORIES.length; c++) {
            Tensor tensor = batch.tensor(CATEGORIES[c]);
            categories[c] = tensor.segment();
        }
        double sum = 0;
        for (int row = 0; row < batch.valid(); row++) {
            int n = 0;
            for (int c = 0; c < CATEGORIES.length; c++) {
                n = add(n, c * BUCKETS + categories[c].getAtIndex(ValueLayout.JAVA_INT, row), 1);
            }
            int pair = 31 * categories[1].getAtIndex(ValueLayout.JAVA_INT, row)
                    + categories[2].getAtIndex(ValueLayout.JAVA_INT, row);
            n = add(n, CATEGORIES.length * BUCKETS + (pair & BUCKETS - 1), 1);
            for (int i = 0; i < SCALES.length; i++) {
                long at = (long) row * SCALES.length + i;
                n = add(n, NUMBERS_AT + i, numbers.getAtIndex(ValueLayout.JAVA_FLOAT, at) / SCALES[i]);
                n = add(n, NUMBERS_AT + SCALES.length + i, mask.get(ValueLayout.JAVA_BYTE, at));
            }
            n = add(n, BIAS_AT, 1);
            sum += row(n, click.getAtIndex(ValueLayout.JAVA_FLOAT, row), trains);
        }
        return sum;
    }

    private int add(int n, int weight, double input) {
        used[n] = weight;
        inputs[n] = input;
        return n + 1;
    }

    private double row(int n, double click, boolean trains) {
        double logit = 0;
        for (int i = 0; i < n; i++) {
            logit += weights[used[i]] * inputs[i];
        }
        double chance = 1 / (1 + Math.exp(-logit));
        if (trains) {
            rows++;
            clicks += click > 0 ? 1 : 0;
            for (int i = 0; i < n; i++) {
                double gradient = (chance - click) * inputs[i];
                squares[used[i]] += gradient * gradient;
                weights[used[i]] -= gradient == 0 ? 0 : RATE * gradient / Math.sqrt(squares[used[i]]);
            }
        }
        return -Math.log(Math.max(1e-12, click > 0 ? chance : 1 - chance));
    }

    /** Returns the loss of a model that knows only how many rows of those that were trained on have a click. */
    double meanLoss() {
        double share = (double) clicks / rows;
        return -share * Math.log(share) - (1 - share) * Math.log(1 - share);
    }
}
