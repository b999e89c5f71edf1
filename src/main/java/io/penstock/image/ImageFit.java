package io.penstock.image;

/**
 * How an image of whatever size becomes one of a given size. Immutable; {@link ImageFitter} does it.
 *
 * <p>Resizing is antialiased, bilinear ({@link Resizer}). Unless told to, an image is not turned upright by its Exif
 * orientation, as Pillow and torchvision do not either.
 */
public final class ImageFit {

    /** What is done about the size. */
    enum Mode { EXACT, STRETCH, SHORTER_SIDE }

    /** A side that is decoded smaller still has this many times the pixels that it is resized to. */
    private static final int REDUCING_GAP = 2;
    private static final int MAX_DENOMINATOR = 8;

    final Mode mode;
    final int height;
    final int width;
    /** What the shorter side is resized to. */
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
     * Images must have the size already; any other is refused.
     *
     * @param height rows
     * @param width pixels of a row
     * @return the fit
     * @throws IllegalArgumentException if a side is less than 1, or the image exceeds 2 GiB
     */
    public static ImageFit exactly(int height, int width) {
        return new ImageFit(Mode.EXACT, height, width, 0, false, true);
    }

    /**
     * Images are resized to the size, each side by its own factor.
     *
     * @param height rows
     * @param width pixels of a row
     * @return the fit
     * @throws IllegalArgumentException if a side is less than 1, or the image exceeds 2 GiB
     */
    public static ImageFit stretch(int height, int width) {
        return new ImageFit(Mode.STRETCH, height, width, 0, false, true);
    }

    /**
     * Images are resized, sides in proportion, and the middle is cut out: torchvision's {@code Resize(shorterSide)} and
     * {@code CenterCrop((height, width))}. The longer side becomes {@code floor(shorterSide * longer / shorter)}; a
     * margin of an odd number of pixels is halved to the even number.
     *
     * @param shorterSide what the shorter side is resized to
     * @param height rows that are cut out
     * @param width pixels of a row that are cut out
     * @return the fit
     * @throws IllegalArgumentException if a side is less than 1 or greater than {@code shorterSide}, or the image
     *     exceeds 2 GiB
     */
    public static ImageFit shorterSide(int shorterSide, int height, int width) {
        return new ImageFit(Mode.SHORTER_SIDE, height, width, shorterSide, false, true);
    }

    /**
     * The same fit for images turned upright by their Exif orientation first.
     *
     * @return the fit
     */
    public ImageFit upright() {
        return new ImageFit(mode, height, width, shorterSide, true, scaledDecoding);
    }

    /**
     * The same fit, with or without scaled decoding, which is on otherwise: a JPEG that is resized to half its size or
     * less is decoded 2, 4 or 8 times smaller by libturbojpeg, as long as both its sides then are at least twice what
     * they are resized to. It is faster and hard to tell by the eye; but the pixels are not those of resizing the whole
     * image, as they are with the JDK's decoder, which gains nothing by it.
     *
     * @param scaled whether to
     * @return the fit
     */
    public ImageFit scaledDecoding(boolean scaled) {
        return new ImageFit(mode, height, width, shorterSide, upright, scaled);
    }

    /**
     * Rows of what images become.
     *
     * @return the height
     */
    public int height() {
        return height;
    }

    /**
     * Pixels of a row of what images become.
     *
     * @return the width
     */
    public int width() {
        return width;
    }

    /** How many times smaller to decode an image, upright, that is resized to a size. */
    int denominator(int sourceWidth, int sourceHeight, int resizedWidth, int resizedHeight) {
        if (!scaledDecoding) {
            return 1;
        }
        int denominator = MAX_DENOMINATOR;
        while (denominator > 1
                && (ImageReader.scaled(sourceWidth, denominator) < (long) REDUCING_GAP * resizedWidth
                || ImageReader.scaled(sourceHeight, denominator) < (long) REDUCING_GAP * resizedHeight)) {
            denominator /= 2;
        }
        return denominator;
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
