// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Form.Trait;
import io.penstock.image.Padding;
import io.penstock.memory.DType;
import java.util.random.RandomGenerator;

/**
 * Crops to a fixed size: in the middle, or at a random place of the padded image.
 *
 * @param place where
 * @param size the result's size
 * @param padding the border that a random crop may show
 */
public record Crop(Place place, Size size, Padding padding) implements Step {

    /** Where a crop is. */
    public enum Place {
        CENTER(Form.of("centerCrop", Trait.GEOMETRIC, Trait.SIZE, Trait.FIXED)),
        RANDOM(Form.of("randomCrop", Trait.GEOMETRIC, Trait.SIZE));

        private final Form form;

        Place(Form form) {
            this.form = form.with(DType.I32, "top", "left");
        }
    }

    @Override
    public Form form() {
        return place.form;
    }

    @Override
    public Size check(Size image, int channels) {
        Size padded = padded(image, padding);
        if (size.height() > padded.height() || size.width() > padded.width()) {
            throw new IllegalArgumentException("a crop of " + size + " of images of " + padded);
        }
        return size;
    }

    /** Returns the size of a padded image, if it is large enough to be mirrored. */
    static Size padded(Size image, Padding padding) {
        int border = padding.pixels();
        checkMirrors(image.height(), image.width(), padding);
        return new Size(Math.addExact(image.height(), 2 * border), Math.addExact(image.width(), 2 * border));
    }

    /** Checks that an image is large enough to be mirrored. That of a file may have any size. */
    static void checkMirrors(int height, int width, Padding padding) {
        int least = padding.mode() == Padding.Mode.REFLECT ? padding.pixels() + 1
                : padding.mode() == Padding.Mode.SYMMETRIC ? padding.pixels() : 0;
        if (Math.min(height, width) < least) {
            throw new IllegalArgumentException(padding + " of images of " + height + " x " + width
                    + ", expected sides of at least " + least);
        }
    }

    /** Half a pixel in the middle is rounded to even, as torchvision does. */
    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        int down = height + 2 * padding.pixels() - size.height();
        int right = width + 2 * padding.pixels() - size.width();
        if (down < 0 || right < 0) {
            throw new IllegalArgumentException("a crop of " + size + " of an image of " + new Size(height, width)
                    + (padding.pixels() == 0 ? "" : " with a border of " + padding.pixels())
                    + ", expected an image at least as large (resize or pad it before the crop)");
        }
        if (place == Place.CENTER) {
            values[at] = Math.rint(down / 2.0);
            values[at + 1] = Math.rint(right / 2.0);
        } else {
            values[at] = random.nextInt(down + 1);
            values[at + 1] = random.nextInt(right + 1);
        }
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        passes.add(new PixelOp(PixelOp.Kind.CROP, padding.mode().ordinal(), padding.fill(), padding.pixels()),
                record[0], size);
    }

    @Override
    public void place(double[] values, int at, Placement placement) {
        placement.crop(values[at] - padding.pixels(), values[at + 1] - padding.pixels(), size.height(), size.width());
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        checkMirrors(canvas.height(), canvas.width(), padding);
        canvas.crop((int) values[at], (int) values[at + 1], size.height(), size.width(), padding);
    }

    @Override
    public String toString() {
        return place.form.operation() + "(" + size + (padding.pixels() == 0 ? "" : ", " + padding) + ")";
    }
}
