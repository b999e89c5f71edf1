// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Form.Trait;
import io.penstock.image.AffineRanges;
import io.penstock.image.Interpolation;
import io.penstock.memory.DType;
import java.util.random.RandomGenerator;

/**
 * Rotates, shifts, scales and shears about the middle of the image: torchvision's RandomAffine and RandomRotation.
 *
 * @param kind what is drawn; a rotation counts angles counterclockwise, an affine transform clockwise
 * @param ranges what the transform is drawn from
 * @param interpolation how the image is read
 * @param fill the value of all channels outside the image, 0 to 255
 */
public record Affine(Kind kind, AffineRanges ranges, Interpolation interpolation, int fill) implements Step {

    /** Which of torchvision's two transforms this is. */
    public enum Kind {
        ROTATE(Form.of("rotate", Trait.GEOMETRIC).with(DType.F64, "angle")),
        AFFINE(Form.of("affine", Trait.GEOMETRIC)
                .with(DType.F64, "angle", "translateX", "translateY", "scale", "shearX", "shearY"));

        private final Form form;

        Kind(Form form) {
            this.form = form;
        }
    }

    public Affine {
        Step.checkFill(fill);
    }

    @Override
    public Form form() {
        return kind.form;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        values[at] = Distributions.uniform(random, ranges.angle());
        if (kind == Kind.AFFINE) {
            double right = ranges.translateX() * width;
            double down = ranges.translateY() * height;
            values[at + 1] = Math.rint(-right + 2 * right * random.nextDouble());
            values[at + 2] = Math.rint(-down + 2 * down * random.nextDouble());
            values[at + 3] = Distributions.uniform(random, ranges.scale());
            values[at + 4] = Distributions.uniform(random, ranges.shearX());
            values[at + 5] = Distributions.uniform(random, ranges.shearY());
        }
    }

    @Override
    public void place(double[] values, int at, Placement placement) {
        double[] m = placement.inverse();
        if (kind == Kind.ROTATE) {
            inverse(m, placement.height(), placement.width(), -values[at], 0, 0, 1, 0, 0);
        } else {
            inverse(m, placement.height(), placement.width(), values[at], values[at + 1], values[at + 2],
                    values[at + 3], values[at + 4], values[at + 5]);
        }
        placement.affine(m);
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        int setting = PixelOp.setting(interpolation) + (kind == Kind.AFFINE ? 2 : 0);
        passes.add(new PixelOp(PixelOp.Kind.WARP, setting, fill, 0), record[0]);
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        if (kind == Kind.ROTATE) {
            warp(canvas, -values[at], 0, 0, 1, 0, 0, interpolation, fill);
        } else {
            warp(canvas, values[at], values[at + 1], values[at + 2], values[at + 3], values[at + 4], values[at + 5],
                    interpolation, fill);
        }
    }

    /** Shifts, rotates, scales and shears an image about its middle. */
    public static void warp(Canvas canvas, double angle, double right, double down, double scale, double shearX,
            double shearY, Interpolation interpolation, int fill) {
        double[] m = canvas.work().inverse();
        inverse(m, canvas.height(), canvas.width(), angle, right, down, scale, shearX, shearY);
        warp(canvas, m, interpolation, fill);
    }

    /** Warps an image by a matrix, as {@link Warp#affine} takes it, on pixel centers. */
    public static void warp(Canvas canvas, double[] m, Interpolation interpolation, int fill) {
        canvas.work().warp().affine(canvas, m, interpolation, fill);
    }

    /**
     * Sets the map of output centers to input centers: the inverse of shift, rotate, scale, shear y, shear x.
     *
     * @param m receives xx, xy, x0, yx, yy, y0, as {@link Warp#affine} has them
     */
    static void inverse(double[] m, int height, int width, double angle, double right, double down, double scale,
            double shearX, double shearY) {
        double tanX = Series.sine(shearX) / Series.cosine(shearX);
        double a = Series.cosine(angle - shearY) / Series.cosine(shearY);
        double b = -(a * tanX + Series.sine(angle));
        double c = Series.sine(angle - shearY) / Series.cosine(shearY);
        double d = Series.cosine(angle) - c * tanX;
        m[0] = d / scale;
        m[1] = -b / scale;
        m[2] = -(m[0] * right + m[1] * down) + (width - 1) / 2.0;
        m[3] = -c / scale;
        m[4] = a / scale;
        m[5] = -(m[3] * right + m[4] * down) + (height - 1) / 2.0;
    }

    @Override
    public String toString() {
        return kind.form.operation() + "(" + (kind == Kind.ROTATE ? ranges.angle() : ranges) + ", " + interpolation
                + ", fill " + fill + ")";
    }
}
