// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

/**
 * Brings images of any size to one size. Immutable; {@link ImageFitter} applies it.
 *
 * <p>Resizing is antialiased and bilinear ({@link Resizer}). By default the Exif orientation is ignored, as in Pillow
 * and torchvision.
 */
public final class ImageFit {

    /** How to treat the size. */
    enum Mode { EXACT, STRETCH, SHORTER_SIDE }

    final Mode mode;
    final int height;
    final int width;
    /** The length that the shorter side is resized to. */
    final int shorterSide;
    final boolean upright;
    final boolean scaledDecoding;

    private ImageFit(Mode mode, int height, int width, int shorterSide, boolean upright, boolean scaledDecoding) {
        if (height < 1 || width < 1 || (long) height * width > Integer.MAX_VALUE / 4) {
            throw new IllegalArgumentException("images of " + width + "x" + height + " pixels");
        }
        if (mode == Mode.SHORTER_SIDE && shorterSide < Math.max(height, width)) {
            throw new IllegalArgumentException("a crop of " + width + "x" + height
                    + " from images whose shorter side is " + shorterSide);
        }
        this.mode = mode;
        this.height = height;
        this.width = width;
        this.shorterSide = shorterSide;
        this.upright = upright;
        this.scaledDecoding = scaledDecoding;
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
        return new ImageFit(Mode.EXACT, height, width, 0, false, true);
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
        return new ImageFit(Mode.STRETCH, height, width, 0, false, true);
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
        return new ImageFit(Mode.SHORTER_SIDE, height, width, shorterSide, false, true);
    }

    /** {@return this fit for images turned upright by their Exif orientation first} */
    public ImageFit upright() {
        return new ImageFit(mode, height, width, shorterSide, true, scaledDecoding);
    }

    /**
     * This fit without scaled decoding. By default, libturbojpeg decodes a JPEG 2, 4 or 8 times smaller if both sides
     * stay at least twice as long as the resized ones. That is faster and hardly visible, but the pixels differ from
     * those of resizing the whole image. The JDK's decoder always resizes the whole image, because scaling gains it
     * nothing.
     *
     * @return the fit
     */
    public ImageFit decodedWhole() {
        return new ImageFit(mode, height, width, shorterSide, upright, false);
    }

    /** {@return the rows of the resulting images} */
    public int height() {
        return height;
    }

    /** {@return the pixels in a row of the resulting images} */
    public int width() {
        return width;
    }

    @Override
    public String toString() {
        String text = switch (mode) {
            case EXACT -> "exactly " + width + "x" + height;
            case STRETCH -> "stretched to " + width + "x" + height;
            case SHORTER_SIDE -> "shorter side " + shorterSide + ", middle " + width + "x" + height;
        };
        return text + (upright ? ", upright" : "") + (scaledDecoding || mode == Mode.EXACT ? "" : ", decoded whole");
    }
}
