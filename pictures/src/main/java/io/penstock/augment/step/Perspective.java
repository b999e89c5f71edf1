// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Form.Trait;
import io.penstock.image.Interpolation;
import io.penstock.memory.DType;
import java.util.random.RandomGenerator;

/**
 * Moves the four corners of the image inwards: torchvision's RandomPerspective. Corners that stay change nothing.
 *
 * @param distortion the largest move, as a share of half a side: 0 to 1
 * @param probability of a move
 * @param interpolation how the image is read
 * @param fill the value of all channels outside the image, 0 to 255
 */
public record Perspective(double distortion, double probability, Interpolation interpolation, int fill)
        implements Step {

    /** How far each corner moves inwards, in pixels. */
    private static final Form FORM = Form.of("perspective", Trait.GEOMETRIC).with(DType.I32, "topLeftX",
            "topLeftY", "topRightX", "topRightY", "bottomRightX", "bottomRightY", "bottomLeftX", "bottomLeftY");

    public static final double DISTORTION = 0.5;

    private static final int CORNER_MOVES = 8;

    public Perspective {
        Step.checkProbability(probability);
        Step.checkFill(fill);
        if (!(distortion >= 0 && distortion <= 1)) {
            throw new IllegalArgumentException("distortion " + distortion + ", expected 0 to 1");
        }
    }

    @Override
    public Form form() {
        return FORM;
    }

    /** Draws the corners. An image of one row or column has no four corners, and stays as it is. */
    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        boolean isApplied = random.nextDouble() < probability && height > 1 && width > 1;
        int halfWidth = width / 2;
        int halfHeight = height / 2;
        int right = (int) (distortion * halfWidth);
        int down = (int) (distortion * halfHeight);
        for (int i = 0; i < CORNER_MOVES; i++) {
            int move = random.nextInt((i % 2 == 0 ? right : down) + 1);
            values[at + i] = isApplied ? move : 0;
        }
    }

    @Override
    public void place(double[] values, int at, Placement placement) {
        if (inverse(placement.inverse(), values, at, placement.height(), placement.width())) {
            placement.perspective(placement.inverse());
        }
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        passes.add(new PixelOp(PixelOp.Kind.WARP, PixelOp.setting(interpolation) + 4, fill, 0), record[0]);
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        warp(canvas, values, at, interpolation, fill);
    }

    /** Moves the corners of an image. */
    public static void warp(Canvas canvas, double[] values, int at, Interpolation interpolation, int fill) {
        double[] m = canvas.work().inverse();
        if (inverse(m, values, at, canvas.height(), canvas.width())) {
            canvas.work().warp().perspective(canvas, m, interpolation, fill);
        }
    }

    /**
     * Sets the map of output points to input points: the adjugate of the map of a square to the moved corners, by
     * Heckbert, "Fundamentals of Texture Mapping and Image Warping" (1989), section 2.2.3.
     *
     * @return false if the corners stay, or do not span a quadrilateral
     */
    private static boolean inverse(double[] m, double[] values, int at, int height, int width) {
        double right = width - 1;
        double bottom = height - 1;
        double x0 = values[at];
        double y0 = values[at + 1];
        double x1 = right - values[at + 2];
        double y1 = values[at + 3];
        double x2 = right - values[at + 4];
        double y2 = bottom - values[at + 5];
        double x3 = values[at + 6];
        double y3 = bottom - values[at + 7];
        boolean isMoved = false;
        for (int i = 0; i < CORNER_MOVES; i++) {
            isMoved |= values[at + i] != 0;
        }
        double dx1 = x1 - x2;
        double dx2 = x3 - x2;
        double dy1 = y1 - y2;
        double dy2 = y3 - y2;
        double sumX = x0 - x1 + x2 - x3;
        double sumY = y0 - y1 + y2 - y3;
        double determinant = dx1 * dy2 - dx2 * dy1;
        double g = (sumX * dy2 - dx2 * sumY) / determinant;
        double h = (dx1 * sumY - sumX * dy1) / determinant;
        double a = x1 - x0 + g * x1;
        double b = x3 - x0 + h * x3;
        double d = y1 - y0 + g * y1;
        double e = y3 - y0 + h * y3;
        m[0] = right * (e - y0 * h);
        m[1] = right * (x0 * h - b);
        m[2] = right * (b * y0 - x0 * e);
        m[3] = bottom * (y0 * g - d);
        m[4] = bottom * (a - x0 * g);
        m[5] = bottom * (x0 * d - a * y0);
        m[6] = d * h - e * g;
        m[7] = b * g - a * h;
        m[8] = a * e - b * d;
        return isMoved && determinant != 0 && m[8] != 0;
    }

    @Override
    public String toString() {
        return "perspective(distortion " + distortion + ", p " + probability + ", " + interpolation + ", fill " + fill
                + ")";
    }
}
