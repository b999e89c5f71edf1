// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

/** The size of an image in pixels. */
record Size(int height, int width) {

    Size {
        if (height < 1 || width < 1) {
            throw new IllegalArgumentException("a size of " + height + " x " + width + ", expected at least 1 x 1");
        }
    }

    /** Checks that a part of this size fits into an image. */
    void checkFitsInto(int imageHeight, int imageWidth) {
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
