// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

import java.util.Objects;

/**
 * How images of any size are brought to one size. Resizing is antialiased and bilinear, with Pillow's pixels.
 *
 * @param sizing what is done about the size
 * @param height the rows of the resulting images, 1 or more
 * @param width the pixels in a row of the resulting images, 1 or more
 * @param shorterSide the length that the shorter side is resized to before the crop; 0 for the other sizings
 */
public record ImageFit(Sizing sizing, int height, int width, int shorterSide) {

    /** What is done about the size of an image. */
    public enum Sizing {
        /** Another size is an error. */
        EXACT,
        /** Each side is resized by its own factor. */
        STRETCH,
        /** The image is resized in proportion, then its center is cropped. */
        SHORTER_SIDE
    }

    /**
     * Checks the sizes.
     *
     * @throws IllegalArgumentException if a side is less than 1, the image exceeds 2 GiB, the crop is larger than the
     *     resized image, or there is a shorter side without a crop
     */
    public ImageFit {
        Objects.requireNonNull(sizing, "sizing");
        if (height < 1 || width < 1 || (long) height * width > Integer.MAX_VALUE / 4) {
            throw new IllegalArgumentException("images of " + width + "x" + height + " pixels");
        }
        if (sizing == Sizing.SHORTER_SIDE && shorterSide < Math.max(height, width)) {
            throw new IllegalArgumentException("a crop of " + width + "x" + height
                    + " from images whose shorter side is " + shorterSide);
        }
        if (sizing != Sizing.SHORTER_SIDE && shorterSide != 0) {
            throw new IllegalArgumentException("a shorter side of " + shorterSide + " for " + sizing + ", expected 0");
        }
    }

    /**
     * Requires images to have the size already; rejects any other.
     *
     * @param height rows
     * @param width pixels in a row
     * @return the fit
     * @throws IllegalArgumentException if a side is less than 1, or the image exceeds 2 GiB
     */
    public static ImageFit exactly(int height, int width) {
        return new ImageFit(Sizing.EXACT, height, width, 0);
    }

    /**
     * Resizes images to the size, each side by its own factor.
     *
     * @param height rows
     * @param width pixels in a row
     * @return the fit
     * @throws IllegalArgumentException if a side is less than 1, or the image exceeds 2 GiB
     */
    public static ImageFit stretch(int height, int width) {
        return new ImageFit(Sizing.STRETCH, height, width, 0);
    }

    /**
     * Resizes images in proportion and crops the center: torchvision's {@code Resize(shorterSide)} and
     * {@code CenterCrop((height, width))}. The longer side becomes {@code floor(shorterSide * longer / shorter)}; half
     * of an odd margin is rounded to the even number.
     *
     * @param shorterSide the length that the shorter side is resized to
     * @param height rows of the crop
     * @param width pixels in a row of the crop
     * @return the fit
     * @throws IllegalArgumentException if a side is less than 1 or greater than {@code shorterSide}, or the image
     *     exceeds 2 GiB
     */
    public static ImageFit shorterSide(int shorterSide, int height, int width) {
        return new ImageFit(Sizing.SHORTER_SIDE, height, width, shorterSide);
    }

    @Override
    public String toString() {
        return switch (sizing) {
            case EXACT -> "exactly " + width + "x" + height;
            case STRETCH -> "stretched to " + width + "x" + height;
            case SHORTER_SIDE -> "shorter side " + shorterSide + ", middle " + width + "x" + height;
        };
    }
}
