// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.value;

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

    /**
     * Checks that a part of this size fits into an image.
     *
     * @param imageHeight the image's rows
     * @param imageWidth the image's columns
     * @throws IllegalArgumentException if it does not
     */
    public void checkFitsInto(int imageHeight, int imageWidth) {
        if (height > imageHeight || width > imageWidth) {
            throw new IllegalArgumentException(
                    "a crop of " + this + " of images of " + imageHeight + " x " + imageWidth);
        }
    }

    @Override
    public String toString() {
        return height + " x " + width;
    }
}
