// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Form.Trait;
import io.penstock.image.ResizeFilter;
import io.penstock.image.reading.Resizer;
import org.jspecify.annotations.Nullable;

/**
 * Resizes images.
 *
 * @param height the result's height; 0 to scale the shorter side to {@code width}
 * @param width the result's width, or its shorter side
 * @param filter how pixels are weighed
 */
public record Resize(int height, int width, ResizeFilter filter) implements Step {

    private static final Form SHORTER = Form.of("resize", Trait.GEOMETRIC, Trait.FIXED);
    private static final Form BOTH = Form.of("resize", Trait.GEOMETRIC, Trait.FIXED, Trait.SIZE);

    public static Resize to(Size size, ResizeFilter filter) {
        return new Resize(size.height(), size.width(), filter);
    }

    public static Resize shorterSide(int pixels, ResizeFilter filter) {
        return new Resize(0, new Size(pixels, pixels).width(), filter);
    }

    @Override
    public Form form() {
        return height > 0 ? BOTH : SHORTER;
    }

    @Override
    public Size check(Size image, int channels) {
        if (height > 0) {
            return new Size(height, width);
        }
        int longer = longer(image.height(), image.width());
        return image.width() <= image.height() ? new Size(longer, width) : new Size(width, longer);
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        passes.add(PixelOp.resize(filter, 0), 0, check(passes.size(), 1));
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        if (height > 0) {
            canvas.resize(height, width, weights(filter));
            return;
        }
        int longer = longer(canvas.height(), canvas.width());
        if (canvas.width() <= canvas.height()) {
            canvas.resize(longer, width, weights(filter));
        } else {
            canvas.resize(width, longer, weights(filter));
        }
    }

    @Override
    public void place(double[] values, int at, Placement placement) {
        int longer = longer(placement.height(), placement.width());
        if (height > 0) {
            placement.resize(height, width);
        } else if (placement.width() <= placement.height()) {
            placement.resize(longer, width);
        } else {
            placement.resize(width, longer);
        }
    }

    /** Returns the weights of a filter; null for the nearest pixel. */
    public static Resizer.@Nullable Filter weights(ResizeFilter filter) {
        return switch (filter) {
            case NEAREST -> null;
            case BOX -> Resizer.Filter.BOX;
            case BILINEAR -> Resizer.Filter.BILINEAR;
            case BICUBIC -> Resizer.Filter.BICUBIC;
        };
    }

    /** Returns the longer side of the result if the shorter one is {@code width}. */
    private int longer(int imageHeight, int imageWidth) {
        return Math.toIntExact((long) width * Math.max(imageHeight, imageWidth) / Math.min(imageHeight, imageWidth));
    }

    @Override
    public String toString() {
        return "resize(" + (height > 0 ? height + " x " + width : "shorter side " + width)
                + (filter == ResizeFilter.BILINEAR ? "" : ", " + filter) + ")";
    }
}
