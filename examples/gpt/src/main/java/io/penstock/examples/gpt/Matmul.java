// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Products of matrices. Every element of a product is one sum over {@code k = 0, 1, …} of fused multiply-adds, so
 * results are the same bits for every number of threads and every vector width.
 *
 * <p>The product is computed in tiles of {@value #TILE_ROWS} rows by two vectors that stay in registers. The
 * {@value #DEPTH} rows of the right matrix below a tile are copied to a panel, so that they are read in order from the
 * L1 cache.
 */
final class Matmul {

    /** All dimensions of all matrices must be multiples of this: there is no code for rests. */
    static final int MULTIPLE = 32;

    private static final VectorSpecies<Float> LANES = FloatVector.SPECIES_PREFERRED.length() <= MULTIPLE / 2
            ? FloatVector.SPECIES_PREFERRED : FloatVector.SPECIES_512;
    private static final int WIDTH = LANES.length();
    private static final int PANEL = 2 * WIDTH;
    private static final int TILE_ROWS = 8;
    private static final int DEPTH = 256;
    private static final int TASK_ROWS = 256;
    private static final ThreadLocal<float[]> PANELS = ThreadLocal.withInitial(() -> new float[DEPTH * PANEL]);

    private Matmul() {
    }

    /** c = a·b or, if {@code add}, c += a·b; on all threads. */
    static void multiply(Threads threads, Matrix a, Matrix b, Matrix c, boolean add) {
        check(a, b, c);
        int panels = c.columns() / PANEL;
        threads.forEach(Math.ceilDiv(c.rows(), TASK_ROWS) * panels, task -> {
            int row = task / panels * TASK_ROWS;
            multiplyPanel(a, b, c, row, Math.min(row + TASK_ROWS, c.rows()), task % panels * PANEL, add);
        });
    }

    /** The same on this thread. */
    static void multiply(Matrix a, Matrix b, Matrix c, boolean add) {
        check(a, b, c);
        for (int column = 0; column < c.columns(); column += PANEL) {
            multiplyPanel(a, b, c, 0, c.rows(), column, add);
        }
    }

    private static void check(Matrix a, Matrix b, Matrix c) {
        if (a.rows() != c.rows() || a.columns() != b.rows() || b.columns() != c.columns() || c.columnStride() != 1
                || (a.rows() | a.columns() | b.columns()) % MULTIPLE != 0) {
            throw new IllegalArgumentException(a.rows() + "x" + a.columns() + " times " + b.rows() + "x" + b.columns()
                    + " into " + c.rows() + "x" + c.columns() + ", expected multiples of " + MULTIPLE);
        }
    }

    private static void multiplyPanel(Matrix a, Matrix b, Matrix c, int firstRow, int endRow, int column,
            boolean add) {
        float[] panel = PANELS.get();
        for (int k = 0; k < b.rows(); k += DEPTH) {
            int depth = Math.min(DEPTH, b.rows() - k);
            copyToPanel(b, k, depth, column, panel);
            boolean addTile = add || k > 0;
            for (int row = firstRow; row < endRow; row += TILE_ROWS) {
                if (!addTile) {
                    for (int r = 0; r < TILE_ROWS; r++) {
                        int start = c.at(row + r, column);
                        Arrays.fill(c.array(), start, start + PANEL, 0);
                    }
                }
                addTile(a.array(), a.at(row, k), a.rowStride(), a.columnStride(), panel, depth, c.array(),
                        c.at(row, column), c.rowStride());
            }
        }
    }

    private static void copyToPanel(Matrix b, int k, int depth, int column, float[] panel) {
        float[] from = b.array();
        if (b.columnStride() == 1) {
            for (int i = 0; i < depth; i++) {
                System.arraycopy(from, b.at(k + i, column), panel, i * PANEL, PANEL);
            }
        } else {
            for (int j = 0; j < PANEL; j++) {
                int at = b.at(k, column + j);
                for (int i = 0; i < depth; i++) {
                    panel[i * PANEL + j] = from[at + i * b.rowStride()];
                }
            }
        }
    }

    /** Adds to a tile of c the product of rows of a and the panel. */
    private static void addTile(float[] a, int a0, int aRow, int aColumn, float[] panel, int depth, float[] c, int c0,
            int cRow) {
        int c1 = c0 + cRow;
        int c2 = c1 + cRow;
        int c3 = c2 + cRow;
        int c4 = c3 + cRow;
        int c5 = c4 + cRow;
        int c6 = c5 + cRow;
        int c7 = c6 + cRow;
        FloatVector left0 = load(c, c0);
        FloatVector left1 = load(c, c1);
        FloatVector left2 = load(c, c2);
        FloatVector left3 = load(c, c3);
        FloatVector left4 = load(c, c4);
        FloatVector left5 = load(c, c5);
        FloatVector left6 = load(c, c6);
        FloatVector left7 = load(c, c7);
        FloatVector right0 = load(c, c0 + WIDTH);
        FloatVector right1 = load(c, c1 + WIDTH);
        FloatVector right2 = load(c, c2 + WIDTH);
        FloatVector right3 = load(c, c3 + WIDTH);
        FloatVector right4 = load(c, c4 + WIDTH);
        FloatVector right5 = load(c, c5 + WIDTH);
        FloatVector right6 = load(c, c6 + WIDTH);
        FloatVector right7 = load(c, c7 + WIDTH);
        for (int k = 0; k < depth; k++) {
            FloatVector left = load(panel, k * PANEL);
            FloatVector right = load(panel, k * PANEL + WIDTH);
            int at = a0 + k * aColumn;
            FloatVector x = FloatVector.broadcast(LANES, a[at]);
            left0 = x.fma(left, left0);
            right0 = x.fma(right, right0);
            x = FloatVector.broadcast(LANES, a[at + aRow]);
            left1 = x.fma(left, left1);
            right1 = x.fma(right, right1);
            x = FloatVector.broadcast(LANES, a[at + 2 * aRow]);
            left2 = x.fma(left, left2);
            right2 = x.fma(right, right2);
            x = FloatVector.broadcast(LANES, a[at + 3 * aRow]);
            left3 = x.fma(left, left3);
            right3 = x.fma(right, right3);
            x = FloatVector.broadcast(LANES, a[at + 4 * aRow]);
            left4 = x.fma(left, left4);
            right4 = x.fma(right, right4);
            x = FloatVector.broadcast(LANES, a[at + 5 * aRow]);
            left5 = x.fma(left, left5);
            right5 = x.fma(right, right5);
            x = FloatVector.broadcast(LANES, a[at + 6 * aRow]);
            left6 = x.fma(left, left6);
            right6 = x.fma(right, right6);
            x = FloatVector.broadcast(LANES, a[at + 7 * aRow]);
            left7 = x.fma(left, left7);
            right7 = x.fma(right, right7);
        }
        left0.intoArray(c, c0);
        left1.intoArray(c, c1);
        left2.intoArray(c, c2);
        left3.intoArray(c, c3);
        left4.intoArray(c, c4);
        left5.intoArray(c, c5);
        left6.intoArray(c, c6);
        left7.intoArray(c, c7);
        right0.intoArray(c, c0 + WIDTH);
        right1.intoArray(c, c1 + WIDTH);
        right2.intoArray(c, c2 + WIDTH);
        right3.intoArray(c, c3 + WIDTH);
        right4.intoArray(c, c4 + WIDTH);
        right5.intoArray(c, c5 + WIDTH);
        right6.intoArray(c, c6 + WIDTH);
        right7.intoArray(c, c7 + WIDTH);
    }

    private static FloatVector load(float[] array, int at) {
        return FloatVector.fromArray(LANES, array, at);
    }
}
