// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Form.Trait;
import io.penstock.image.Padding;

/**
 * Adds a border: torchvision's Pad.
 *
 * @param padding the border
 */
public record Pad(Padding padding) implements Step {

    private static final Form FORM = Form.of("pad", Trait.GEOMETRIC, Trait.FIXED);

    @Override
    public Form form() {
        return FORM;
    }

    @Override
    public Size check(Size image, int channels) {
        return Crop.padded(image, padding);
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
        Crop.checkMirrors(canvas.height(), canvas.width(), padding);
        canvas.crop(0, 0, canvas.height() + 2 * border, canvas.width() + 2 * border, padding);
    }

    @Override
    public String toString() {
        return "pad(" + padding + ")";
    }
}
