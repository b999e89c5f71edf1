// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.pixels.Canvas;
import io.penstock.augment.value.Padding;
import io.penstock.augment.value.Size;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Adds a border: torchvision's Pad.
 *
 * @param padding the border
 */
public record Pad(Padding padding) implements Step {

    @Override
    public String operation() {
        return "pad";
    }

    @Override
    public List<String> parameters() {
        return List.of();
    }

    @Override
    public boolean isRandom() {
        return false;
    }

    @Override
    public boolean isGeometric() {
        return true;
    }

    @Override
    public Size check(Size image, int channels) {
        padding.check(image);
        return new Size(Math.addExact(image.height(), 2 * padding.pixels()),
                Math.addExact(image.width(), 2 * padding.pixels()));
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
    }

    @Override
    public void place(double[] values, int at, Placement placement) {
        int border = padding.pixels();
        placement.crop(-border, -border, placement.height() + 2 * border, placement.width() + 2 * border);
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        passes.add(new PixelOp(PixelOp.Kind.PAD, padding.mode().ordinal(), padding.fill(), padding.pixels()), 0,
                check(passes.size(), 1));
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        int border = padding.pixels();
        canvas.crop(0, 0, canvas.height() + 2 * border, canvas.width() + 2 * border, padding);
    }

    @Override
    public String toString() {
        return "pad(" + padding + ")";
    }
}
