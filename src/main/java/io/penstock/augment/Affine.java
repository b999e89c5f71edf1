// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Rotates, shifts, scales and shears about the middle of the image: torchvision's RandomAffine and RandomRotation.
 *
 * @param kind what is drawn; a rotation counts angles counterclockwise, an affine transform clockwise
 * @param ranges what the transform is drawn from
 * @param interpolation how the image is read
 * @param fill the value of all channels outside the image, 0 to 255
 */
record Affine(Kind kind, AffineRanges ranges, Interpolation interpolation, int fill) implements Step {

    private static final double RADIANS = Math.PI / 180;

    /** Which of torchvision's two transforms. */
    enum Kind {
        ROTATE(List.of("angle")), AFFINE(List.of("angle", "translateX", "translateY", "scale", "shearX", "shearY"));

        final List<String> parameters;

        Kind(List<String> parameters) {
            this.parameters = parameters;
        }
    }

    Affine {
        if (fill < 0 || fill > 255) {
            throw new IllegalArgumentException("fill " + fill + ", expected 0 to 255");
        }
    }

    @Override
    public String operation() {
        return kind == Kind.ROTATE ? "rotate" : "affine";
    }

    @Override
    public List<String> parameters() {
        return kind.parameters;
    }

    @Override
    public Size check(Size image, int channels) {
        return image;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        values[at] = ranges.angle().draw(random);
        if (kind == Kind.AFFINE) {
            double right = ranges.translateX() * width;
            double down = ranges.translateY() * height;
            values[at + 1] = Math.rint(-right + 2 * right * random.nextDouble());
            values[at + 2] = Math.rint(-down + 2 * down * random.nextDouble());
            values[at + 3] = ranges.scale().draw(random);
            values[at + 4] = ranges.shearX().draw(random);
            values[at + 5] = ranges.shearY().draw(random);
        }
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        int setting = (interpolation == Interpolation.BILINEAR ? 1 : 0) + (kind == Kind.AFFINE ? 2 : 0);
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

    /** Maps output centers to input points by the inverse of: shift, rotate, scale, shear y, shear x. */
    static void warp(Canvas canvas, double angle, double right, double down, double scale, double shearX,
            double shearY, Interpolation interpolation, int fill) {
        double tanX = sine(shearX) / cosine(shearX);
        double a = cosine(angle - shearY) / cosine(shearY);
        double b = -(a * tanX + sine(angle));
        double c = sine(angle - shearY) / cosine(shearY);
        double d = cosine(angle) - c * tanX;
        double xx = d / scale;
        double xy = -b / scale;
        double yx = -c / scale;
        double yy = a / scale;
        double x0 = -(xx * right + xy * down) + (canvas.width() - 1) / 2.0;
        double y0 = -(yx * right + yy * down) + (canvas.height() - 1) / 2.0;
        Warp.affine(canvas, (float) xx, (float) xy, (float) x0, (float) yx, (float) yy, (float) y0, interpolation,
                fill);
    }

    private static double cosine(double degrees) {
        return sine(degrees + 90);
    }

    /** Exact for multiples of 90. By the series of sine and cosine, so that a kernel computes the same bits. */
    static double sine(double degrees) {
        double quarters = Math.rint(degrees / 90);
        double x = (degrees - 90 * quarters) * RADIANS;
        return switch ((int) ((long) quarters & 3)) {
            case 0 -> x * series(x * x, 19);
            case 1 -> series(x * x, 20);
            case 2 -> -(x * series(x * x, 19));
            default -> -series(x * x, 20);
        };
    }

    /** Returns {@code 1 - z / (2 · 3) (1 - z / (4 · 5) (1 - …))} for an odd last k, from {@code 1 · 2} for an even. */
    private static double series(double z, int last) {
        double sum = 1;
        for (int k = last; k > 1; k -= 2) {
            sum = 1 - z * (1.0 / (k * (k - 1))) * sum;
        }
        return sum;
    }

    @Override
    public String toString() {
        return operation() + "(" + (kind == Kind.ROTATE ? ranges.angle() : ranges) + ", " + interpolation
                + ", fill " + fill + ")";
    }
}
