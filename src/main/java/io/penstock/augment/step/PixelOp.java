// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

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
        /** Several pixels. */
        NEIGHBORS,
        /** The same pixel. */
        COLOR,
        /** The same pixel, and a table made of the whole image. */
        IMAGE,
        /** Several pixels, or a table made of the whole image. */
        NEIGHBORS_OR_IMAGE
    }

    /** The operations, in the order of the enum in {@code augment.cu}. */
    public enum Kind {
        /** The setting is the padding's mode, the amount its width. */
        CROP(Reach.PLACE),
        /** The same at the upper left corner of the border: it has no parameters. */
        PAD(Reach.PLACE),
        FLIP_HORIZONTALLY(Reach.PLACE),
        FLIP_VERTICALLY(Reach.PLACE),
        ERASE(Reach.PLACE),
        /** Of the rectangle in the parameters, or of the whole image if the setting is 0. */
        RESIZE(Reach.NEIGHBORS),
        /** The setting is 1 for bilinear, plus 2 for an affine transform instead of a rotation. */
        WARP(Reach.NEIGHBORS),
        /** The amount is 1 less the factor. */
        SHARPNESS(Reach.NEIGHBORS),
        /** One operation of a policy; the setting is 1 for bilinear. */
        POLICY(Reach.NEIGHBORS_OR_IMAGE),
        /** The changes of a color jitter before the contrast; the setting has bit i for the i-th change. */
        JITTER(Reach.COLOR),
        /** The contrast of a color jitter and the changes behind it. */
        JITTER_REST(Reach.IMAGE),
        GRAYSCALE(Reach.COLOR),
        /** The amount is the number of bits. */
        POSTERIZE(Reach.COLOR),
        /** The amount is the threshold. */
        SOLARIZE(Reach.COLOR),
        AUTOCONTRAST(Reach.IMAGE),
        EQUALIZE(Reach.IMAGE);

        private final Reach reach;

        Kind(Reach reach) {
            this.reach = reach;
        }

        /** Tells whether pixels only move. */
        boolean moves() {
            return reach == Reach.PLACE;
        }

        /** Tells whether a pixel is made of several. */
        boolean gathers() {
            return reach == Reach.NEIGHBORS || reach == Reach.NEIGHBORS_OR_IMAGE;
        }

        /** Tells whether the whole image is needed first. */
        boolean measures() {
            return reach == Reach.IMAGE || reach == Reach.NEIGHBORS_OR_IMAGE;
        }

        /** Tells whether numbers or weights are computed from the parameters first. */
        boolean prepares() {
            return switch (this) {
                case RESIZE, WARP, POLICY, JITTER, JITTER_REST -> true;
                default -> false;
            };
        }
    }

    /** An operation without settings. */
    public static PixelOp of(Kind kind) {
        return new PixelOp(kind, 0, 0, 0);
    }
}
