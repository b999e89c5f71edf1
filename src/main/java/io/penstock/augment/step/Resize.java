// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.pixels.Canvas;
import io.penstock.augment.value.ResizeFilter;
import io.penstock.augment.value.Size;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Resizes images.
 *
 * @param height the result's height; 0 to scale the shorter side to {@code width}
 * @param width the result's width, or its shorter side
 * @param filter how pixels are weighed
 */
public record Resize(int height, int width, ResizeFilter filter) implements Step {

    @Override
    public String operation() {
        return "resize";
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
    public boolean fixesSize() {
        return height > 0;
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
    public void draw(RandomGenerator random, int imageHeight, int imageWidth, double[] values, int at) {
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        passes.add(PixelOp.resize(filter, 0), 0, check(passes.size(), 1));
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        if (height > 0) {
            canvas.resize(height, width, filter);
            return;
        }
        int longer = longer(canvas.height(), canvas.width());
        if (canvas.width() <= canvas.height()) {
            canvas.resize(longer, width, filter);
        } else {
            canvas.resize(width, longer, filter);
        }
    }

    @Override
    public boolean isGeometric() {
        return true;
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
