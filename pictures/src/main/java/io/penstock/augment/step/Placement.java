// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

/**
 * Where a step puts the points of its input: a projective map of a plane. Coordinates are continuous: the pixel in
 * column x covers x to x + 1. So the left edge of an image is 0, the right edge its width. For one thread.
 */
public final class Placement {

    private static final int SIZE = 9;

    /** Row by row: x' = (m0 x + m1 y + m2) / w and y' = (m3 x + m4 y + m5) / w, with w = m6 x + m7 y + m8. */
    private double[] map = new double[SIZE];
    private double[] product = new double[SIZE];
    private final double[] next = new double[SIZE];
    private final double[] inverse = new double[SIZE];
    private int height;
    private int width;
    private double x;
    private double y;

    /** Begins with an image of a size, without moving its points. */
    public void begin(int imageHeight, int imageWidth) {
        height = imageHeight;
        width = imageWidth;
        set(map, 1, 0, 0, 0, 1, 0, 0, 0, 1);
    }

    /** Returns the current height of the image. */
    public int height() {
        return height;
    }

    public int width() {
        return width;
    }

    public void crop(double top, double left, double rows, double columns) {
        set(next, 1, 0, -left, 0, 1, -top, 0, 0, 1);
        append();
        height = (int) rows;
        width = (int) columns;
    }

    public void resize(int newHeight, int newWidth) {
        set(next, (double) newWidth / width, 0, 0, 0, (double) newHeight / height, 0, 0, 0, 1);
        append();
        height = newHeight;
        width = newWidth;
    }

    void flipHorizontally() {
        set(next, -1, 0, width, 0, 1, 0, 0, 0, 1);
        append();
    }

    void flipVertically() {
        set(next, 1, 0, 0, 0, -1, height, 0, 0, 1);
        append();
    }

    /** Returns nine numbers for a step to set before {@link #affine} or {@link #perspective}. */
    double[] inverse() {
        return inverse;
    }

    /** Appends the inverse of a map of pixel centers, as {@link Warp#affine} takes it. */
    public void affine(double[] m) {
        double determinant = m[0] * m[4] - m[1] * m[3];
        double xx = m[4] / determinant;
        double xy = -m[1] / determinant;
        double yx = -m[3] / determinant;
        double yy = m[0] / determinant;
        double fromX = m[2] + 0.5;                                      // the input point that comes to the middle
        double fromY = m[5] + 0.5;
        set(next, xx, xy, width / 2.0 - xx * fromX - xy * fromY, yx, yy, height / 2.0 - yx * fromX - yy * fromY, 0, 0,
                1);
        append();
    }

    /** Appends the inverse of a map of nine numbers, row by row. */
    public void perspective(double[] m) {
        invert(m, next);
        append();
    }

    /** Sets nine numbers to the map of the current image's points to those of the first image. */
    void invert(double[] m) {
        invert(map, m);
    }

    /** Sets the adjugate: the inverse up to a factor, which does not matter. */
    private static void invert(double[] m, double[] to) {
        set(to, m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]);
    }

    private static void set(double[] m, double m0, double m1, double m2, double m3, double m4, double m5, double m6,
            double m7, double m8) {
        m[0] = m0;
        m[1] = m1;
        m[2] = m2;
        m[3] = m3;
        m[4] = m4;
        m[5] = m5;
        m[6] = m6;
        m[7] = m7;
        m[8] = m8;
    }

    /** Appends a map to those before it. */
    private void append() {
        for (int i = 0; i < SIZE; i++) {
            int row = i - i % 3;
            int column = i % 3;
            product[i] = next[row] * map[column] + next[row + 1] * map[3 + column] + next[row + 2] * map[6 + column];
        }
        double[] before = map;
        map = product;
        product = before;
    }

    /** Moves a point; {@link #x} and {@link #y} then tell where it is. */
    public void move(double fromX, double fromY) {
        double w = map[6] * fromX + map[7] * fromY + map[8];
        x = (map[0] * fromX + map[1] * fromY + map[2]) / w;
        y = (map[3] * fromX + map[4] * fromY + map[5]) / w;
    }

    public double x() {
        return x;
    }

    public double y() {
        return y;
    }
}
