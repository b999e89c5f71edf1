// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Random;
import org.junit.jupiter.api.Test;

class MatmulTest {

    private final Random random = new Random(7);

    private Matrix matrix(int rows, int columns) {
        float[] values = new float[rows * columns + 5];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return new Matrix(values, 5, rows, columns, columns, 1);
    }

    /** Every element as one chain of fused multiply-adds. */
    private static float[] expected(Matrix a, Matrix b, Matrix c, boolean add) {
        float[] product = c.array().clone();
        for (int i = 0; i < c.rows(); i++) {
            for (int j = 0; j < c.columns(); j++) {
                float sum = add ? product[c.at(i, j)] : 0;
                for (int k = 0; k < a.columns(); k++) {
                    sum = Math.fma(a.array()[a.at(i, k)], b.array()[b.at(k, j)], sum);
                }
                product[c.at(i, j)] = sum;
            }
        }
        return product;
    }

    @Test
    void productsAreTheBitsOfASimpleLoopInEveryLayoutAndOnAnyNumberOfThreads() {
        int[][] sizes = {{32, 32, 32}, {64, 320, 96}, {544, 32, 64}, {288, 544, 32}};
        for (int[] size : sizes) {
            for (int layout = 0; layout < 8; layout++) {
                Matrix a = (layout & 1) == 0 ? matrix(size[0], size[1]) : matrix(size[1], size[0]).transposed();
                Matrix b = (layout & 2) == 0 ? matrix(size[1], size[2]) : matrix(size[2], size[1]).transposed();
                boolean add = (layout & 4) != 0;
                Matrix c = matrix(size[0], size[2]);
                float[] expected = expected(a, b, c, add);
                float[] before = c.array().clone();
                Matmul.multiply(a, b, c, add);
                assertArrayEquals(expected, c.array());
                for (int count : new int[]{1, 2, 5}) {
                    try (Threads threads = new Threads(count)) {
                        System.arraycopy(before, 0, c.array(), 0, before.length);
                        Matmul.multiply(threads, a, b, c, add);
                        assertArrayEquals(expected, c.array());
                    }
                }
            }
        }
    }

    @Test
    void aBlockOfAMatrixIsWrittenInPlace() {
        Matrix whole = matrix(96, 96);
        float[] before = whole.array().clone();
        Matrix a = matrix(32, 32);
        Matrix b = matrix(32, 32);
        Matrix block = whole.block(32, 64, 32, 32);
        float[] expected = expected(a, b, block, false);
        Matmul.multiply(a, b, block, false);
        assertArrayEquals(expected, whole.array());
        assertEquals(before[whole.at(31, 64)], whole.array()[whole.at(31, 64)]);
    }

    @Test
    void sizesThatDoNotFitAreRefused() {
        assertThrows(IllegalArgumentException.class,
                () -> Matmul.multiply(matrix(32, 33), matrix(33, 32), matrix(32, 32), false));
        assertThrows(IllegalArgumentException.class,
                () -> Matmul.multiply(matrix(32, 64), matrix(32, 32), matrix(32, 32), false));
    }
}
