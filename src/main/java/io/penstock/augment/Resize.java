// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Resizes images, with antialiasing.
 *
 * @param height the result's height; 0 to scale the shorter side to {@code width}
 * @param width the result's width, or its shorter side
 */
record Resize(int height, int width) implements Step {

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
        long shorter = Math.min(image.height(), image.width());
        int longer = Math.toIntExact((long) width * Math.max(image.height(), image.width()) / shorter);
        return image.width() <= image.height() ? new Size(longer, width) : new Size(width, longer);
    }

    @Override
    public void draw(RandomGenerator random, int imageHeight, int imageWidth, double[] values, int at) {
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        if (height > 0) {
            canvas.resize(height, width);
            return;
        }
        int imageHeight = canvas.height();
        int imageWidth = canvas.width();
        int longer = (int) ((long) width * Math.max(imageHeight, imageWidth) / Math.min(imageHeight, imageWidth));
        if (imageWidth <= imageHeight) {
            canvas.resize(longer, width);
        } else {
            canvas.resize(width, longer);
        }
    }

    @Override
    public String toString() {
        return "resize(" + (height > 0 ? height + " x " + width : "shorter side " + width) + ")";
    }
}
