// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RowsTest {

    @Test
    void theExponentialIsWithinTwoUnitsInTheLastPlace() {
        float[] x = new float[1 << 16];
        for (int i = 0; i < x.length; i++) {
            x[i] = (i - x.length / 2) * 80f / x.length;
        }
        float[] exp = x.clone();
        Rows.exp(exp, 0, exp.length, 1, 0);
        for (int i = 0; i < x.length; i++) {
            double expected = Math.exp(x[i]);
            assertTrue(Math.abs(exp[i] - expected) <= 2.4e-7 * expected, "exp(" + x[i] + ") = " + exp[i]);
        }
    }

    @Test
    void theExponentialIsBoundedAndExactAtZero() {
        float[] x = new float[32];
        x[0] = -1e30f;
        x[1] = 1e30f;
        Rows.exp(x, 0, x.length, 1, 0);
        assertTrue(x[0] > 0 && x[0] < 1e-37f, "" + x[0]);
        assertTrue(x[1] > 1e38f && x[1] < Float.POSITIVE_INFINITY, "" + x[1]);
        assertEquals(1, x[2]);
    }

    @Test
    void sumsAndMaximaTakeAnyCount() {
        float[] x = new float[70];
        for (int i = 0; i < x.length; i++) {
            x[i] = (i * 29) % 64 - 40;
        }
        for (int from = 0; from < 3; from++) {
            for (int count = 1; count <= 67; count++) {
                float sum = 0;
                float dot = 0;
                float max = Float.NEGATIVE_INFINITY;
                for (int i = from; i < from + count; i++) {
                    sum += x[i];
                    dot += x[i] * x[i];
                    max = Math.max(max, x[i]);
                }
                assertEquals(sum, Rows.sum(x, from, count));
                assertEquals(dot, Rows.dot(x, from, x, from, count));
                assertEquals(max, Rows.max(x, from, count));
            }
        }
    }
}
