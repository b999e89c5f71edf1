// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.Interpolation;
import io.penstock.image.ResizeFilter;

/**
 * What the kernels do for a step, or for a part of it: an operation of a pass over the batch.
 *
 * @param kind which operation
 * @param setting what it depends on; the kind says how
 * @param fill the value of all channels outside the image, or in a rectangle
 * @param amount a number; the kind says which
 */
public record PixelOp(Kind kind, int setting, int fill, float amount) {

    /** What a pixel of the result depends on. */
    private enum Reach {
        /** A pixel elsewhere. */
        PLACE,
        /** Several pixels, or its own place. */
        NEIGHBORS,
        /** Several pixels of images in memory. */
        MEMORY,
        /** The same pixel. */
        COLOR,
        /** The same pixel, and a table of the image. */
        TABLE,
        /** Several pixels, or a table of the image. */
        NEIGHBORS_OR_TABLE
    }

    /** The operations, in the order of the enum in {@code augment.cu}. */
    public enum Kind {
        /** The setting is the padding's mode; the amount is its width. */
        CROP(Reach.PLACE),
        /** Like the one before, at the border's upper left corner: it has no parameters. */
        PAD(Reach.PLACE),
        FLIP_HORIZONTALLY(Reach.PLACE),
        FLIP_VERTICALLY(Reach.PLACE),
        ERASE(Reach.PLACE),
        /** The setting is 1 for the rectangle in the parameters, 0 for the whole image, plus twice the filter. */
        RESIZE(Reach.MEMORY),
        /** The amount is the kernel's size. */
        BLUR(Reach.MEMORY),
        /** Adds the image and its chains by their weights; the setting is the number of chains. */
        MIX(Reach.MEMORY),
        NOISE(Reach.NEIGHBORS),
        /** The setting is 1 for bilinear, plus 2 for an affine transform or 4 for a perspective, else a rotation. */
        WARP(Reach.NEIGHBORS),
        /** The amount is 1 less the factor. */
        SHARPNESS(Reach.NEIGHBORS),
        /** One operation of a policy; the setting is 1 for bilinear, the amount the magnitude's place in the row. */
        POLICY(Reach.NEIGHBORS_OR_TABLE),
        /** The changes of a color jitter before the contrast. Bit i of the setting stands for the i-th change. */
        JITTER(Reach.COLOR),
        /** The contrast of a color jitter and the changes after it. */
        JITTER_REST(Reach.TABLE),
        /** The setting is the curve. */
        TONE(Reach.TABLE),
        GRAYSCALE(Reach.COLOR),
        /** The amount is the number of bits. */
        POSTERIZE(Reach.COLOR),
        /** The amount is the threshold. */
        SOLARIZE(Reach.COLOR),
        AUTOCONTRAST(Reach.TABLE),
        EQUALIZE(Reach.TABLE);

        private final Reach reach;

        Kind(Reach reach) {
            this.reach = reach;
        }

        /** Tells whether the operation only moves pixels. */
        boolean moves() {
            return reach == Reach.PLACE;
        }

        /** Tells whether a result depends on several pixels, or on its place. */
        boolean gathers() {
            return reach == Reach.NEIGHBORS || reach == Reach.MEMORY || reach == Reach.NEIGHBORS_OR_TABLE;
        }

        /** Tells whether the operation needs a table of the image, which is made first. */
        boolean measures() {
            return reach == Reach.TABLE || reach == Reach.NEIGHBORS_OR_TABLE;
        }

        /** Tells whether the image must be in memory before the operation. */
        boolean beginsPass() {
            return reach == Reach.MEMORY || measures();
        }

        /** Tells whether numbers or weights are computed from the parameters before the operation. */
        boolean prepares() {
            return switch (this) {
                case RESIZE, BLUR, WARP, POLICY, JITTER, JITTER_REST -> true;
                default -> false;
            };
        }
    }

    /** An operation without settings. */
    public static PixelOp of(Kind kind) {
        return new PixelOp(kind, 0, 0, 0);
    }

    static PixelOp resize(ResizeFilter filter, int setting) {
        return new PixelOp(Kind.RESIZE, setting + 2 * filter.ordinal(), 0, 0);
    }

    static int setting(Interpolation interpolation) {
        return interpolation == Interpolation.BILINEAR ? 1 : 0;
    }

    /** Makes a change that has no parameters. */
    public static void change(Kind kind, float amount, Canvas canvas) {
        switch (kind) {
            case FLIP_HORIZONTALLY -> canvas.flipHorizontally();
            case FLIP_VERTICALLY -> canvas.flipVertically();
            case SHARPNESS -> ColorChanges.sharpen(canvas, amount);
            case GRAYSCALE -> ColorChanges.grayscale(canvas);
            case POSTERIZE -> ColorChanges.posterize(canvas, (int) amount);
            case SOLARIZE -> ColorChanges.solarize(canvas, amount);
            case AUTOCONTRAST -> ColorChanges.autocontrast(canvas);
            case EQUALIZE -> ColorChanges.equalize(canvas);
            default -> throw new IllegalStateException(kind + " has parameters of its own");
        }
    }
}
