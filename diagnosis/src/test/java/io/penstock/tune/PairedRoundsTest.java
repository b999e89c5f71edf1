// SPDX-License-Identifier: Apache-2.0
package io.penstock.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PairedRoundsTest {

    /** One-sided critical values of the signed-rank sum, from Wilcoxon's and Wilcox's published table (alpha 0.025). */
    @Test
    void criticalValuesAreThePublishedOnes() {
        int[][] table = {{6, 0}, {7, 2}, {8, 3}, {9, 5}, {10, 8}, {12, 13}, {15, 25}, {20, 52}, {25, 89}};
        for (int[] row : table) {
            assertEquals(row[1], PairedRounds.countOutside(row[0], 0.025) - 1, "n = " + row[0]);
        }
    }

    @Test
    void tooFewRoundsSayNothing() {
        PairedRounds of = PairedRounds.of(new double[] {2, 2, 2}, new double[] {1, 1, 1}, 0.025);
        assertEquals(2, of.ratio(), 1e-12);
        assertEquals(0, of.low());
        assertEquals(Double.POSITIVE_INFINITY, of.high());
    }

    @Test
    void aDriftThatBothMeetCancels() {
        double[] a = new double[12];
        double[] b = new double[12];
        for (int i = 0; i < a.length; i++) {
            b[i] = 100 * Math.pow(0.7, i);
            a[i] = b[i] * 1.05;
        }
        PairedRounds of = PairedRounds.of(a, b, 0.01);
        assertEquals(1.05, of.low(), 1e-9);
        assertEquals(1.05, of.high(), 1e-9);
    }

    @Test
    void oneStalledRoundMovesTheEstimateLittle() {
        double[] a = {100, 101, 99, 100, 102, 98, 100, 101, 99, 3};
        double[] b = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
        assertEquals(1, PairedRounds.of(a, b, 0.025).ratio(), 0.02);
    }

    @Test
    void theIntervalHoldsTheTruthAsOftenAsItSays() {
        long seed = 20260;
        SplittableRandom random = new SplittableRandom(seed);
        int cases = 4000;
        int missed = 0;
        for (int c = 0; c < cases; c++) {
            double[] a = new double[12];
            double[] b = new double[12];
            for (int i = 0; i < a.length; i++) {
                double machine = Math.exp(random.nextGaussian() / 2);
                a[i] = 0.9 * machine * Math.exp(random.nextGaussian() / 10);
                b[i] = machine * Math.exp(random.nextGaussian() / 10);
            }
            PairedRounds of = PairedRounds.of(a, b, 0.025);
            missed += of.low() > 0.9 || of.high() < 0.9 ? 1 : 0;
        }
        assertTrue(missed <= 0.06 * cases && missed >= 0.03 * cases, missed + " of " + cases + ", seed " + seed);
    }
}
