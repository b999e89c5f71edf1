// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Form.Trait;
import io.penstock.image.Padding;
import io.penstock.image.Range;
import io.penstock.image.ResizeFilter;
import io.penstock.image.reading.Resizer;
import java.util.random.RandomGenerator;

/**
 * Crops a random part of a random area and aspect ratio, and resizes it: torchvision's RandomResizedCrop.
 *
 * @param size the result's size
 * @param scale the part's area as a share of the image's
 * @param ratio the part's width over its height
 */
public record RandomResizedCrop(Size size, Range scale, Range ratio) implements Step {

    private static final Form FORM = Form.of("randomResizedCrop", Trait.GEOMETRIC, Trait.SIZE).withRectangle();

    public static final Range SCALE = Range.of(0.08, 1);
    public static final Range RATIO = Range.of(3.0 / 4, 4.0 / 3);

    private static final int TRIES = 10;

    public RandomResizedCrop {
        scale.checkPositive("scale");
        ratio.checkPositive("ratio");
    }

    @Override
    public Form form() {
        return FORM;
    }

    @Override
    public Size check(Size image, int channels) {
        return size;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        double area = (double) height * width;
        for (int i = 0; i < TRIES; i++) {
            double target = area * Distributions.uniform(random, scale);
            double aspect = Distributions.logUniform(random, ratio);
            double w = Math.rint(Math.sqrt(target * aspect));
            double h = Math.rint(Math.sqrt(target / aspect));
            if (w > 0 && w <= width && h > 0 && h <= height) {
                Step.setRectangle(values, at, random.nextInt(height - (int) h + 1), random.nextInt(width - (int) w + 1),
                        h, w);
                return;
            }
        }
        double w = width;
        double h = height;
        if (w / h < ratio.low()) {
            h = Math.clamp(Math.rint(w / ratio.low()), 1, height);
        } else if (w / h > ratio.high()) {
            w = Math.clamp(Math.rint(h * ratio.high()), 1, width);
        }
        Step.setRectangle(values, at, Math.floor((height - h) / 2), Math.floor((width - w) / 2), h, w);
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        passes.add(PixelOp.resize(ResizeFilter.BILINEAR, 1), record[0], size);
    }

    @Override
    public void place(double[] values, int at, Placement placement) {
        placement.crop(values[at], values[at + 1], values[at + 2], values[at + 3]);
        placement.resize(size.height(), size.width());
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        canvas.crop((int) values[at], (int) values[at + 1], (int) values[at + 2], (int) values[at + 3], Padding.NONE);
        canvas.resize(size.height(), size.width(), Resizer.Filter.BILINEAR);
    }

    @Override
    public String toString() {
        return "randomResizedCrop(" + size + ", scale " + scale + ", ratio " + ratio + ")";
    }
}
