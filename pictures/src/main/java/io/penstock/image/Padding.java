// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

/**
 * A border around an image, of the same width on all sides.
 *
 * @param pixels the border's width, at least 0
 * @param mode what the border shows
 * @param fill the value of all its channels with {@link Mode#CONSTANT}, 0 to 255; else 0
 */
public record Padding(int pixels, Mode mode, int fill) {

    /** What a border shows; the examples continue a row {@code a b c d} to the right. */
    public enum Mode {
        /** One value. */
        CONSTANT,
        /** The nearest pixel: {@code d d d}. */
        EDGE,
        /** The image mirrored at the centers of its outermost pixels: {@code c b a}. */
        REFLECT,
        /** The image mirrored at its edges: {@code d c b}. */
        SYMMETRIC
    }

    /** No border. */
    public static final Padding NONE = constant(0, 0);

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if a value is out of range
     */
    public Padding {
        if (pixels < 0 || fill < 0 || fill > 255 || fill != 0 && mode != Mode.CONSTANT) {
            throw new IllegalArgumentException(
                    "padding of " + pixels + " pixels, " + mode + ", fill " + fill + ", expected a fill of 0 to 255");
        }
    }

    /**
     * A border of one value.
     *
     * @param pixels its width
     * @param fill the value of all channels, 0 to 255
     * @return the padding
     * @throws IllegalArgumentException if a value is out of range
     */
    public static Padding constant(int pixels, int fill) {
        return new Padding(pixels, Mode.CONSTANT, fill);
    }

    /**
     * A border of another mode.
     *
     * @param pixels its width: below the image's sides for {@link Mode#REFLECT}, at most these for
     *     {@link Mode#SYMMETRIC}
     * @param mode what the border shows; {@link Mode#CONSTANT} fills with 0
     * @return the padding
     * @throws IllegalArgumentException if the width is negative
     */
    public static Padding of(int pixels, Mode mode) {
        return new Padding(pixels, mode, 0);
    }

    /** For example {@code padding 4 REFLECT}. */
    @Override
    public String toString() {
        return "padding " + pixels + " " + mode + (fill == 0 ? "" : " " + fill);
    }
}
