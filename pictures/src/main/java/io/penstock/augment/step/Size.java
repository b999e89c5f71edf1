// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

/**
 * The size of an image in pixels.
 *
 * @param height the number of rows
 * @param width the number of columns
 */
public record Size(int height, int width) {

    /**
     * Checks the sides.
     *
     * @throws IllegalArgumentException if one is below 1
     */
    public Size {
        if (height < 1 || width < 1) {
            throw new IllegalArgumentException("a size of " + height + " x " + width + ", expected at least 1 x 1");
        }
    }

    @Override
    public String toString() {
        return height + " x " + width;
    }
}
