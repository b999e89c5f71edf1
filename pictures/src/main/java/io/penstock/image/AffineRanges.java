// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

/**
 * What a random affine transform is drawn from. {@link #degrees} starts, the other methods return changed copies:
 *
 * {@snippet :
 * Augment augment = Augment.images().affine(AffineRanges.degrees(15).translate(0.1, 0.1).scale(0.8, 1.2),
 *         Interpolation.BILINEAR, 0);
 * }
 *
 * @param angle degrees of a clockwise rotation
 * @param translateX the largest shift to the left or right, as a share of the width: 0 to 1
 * @param translateY the largest shift up or down, as a share of the height: 0 to 1
 * @param scale the enlargement, positive
 * @param shearX degrees of a horizontal shear, above -90 and below 90
 * @param shearY degrees of a vertical shear, above -90 and below 90
 */
public record AffineRanges(Range angle, double translateX, double translateY, Range scale, Range shearX, Range shearY) {

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if one is out of range
     */
    public AffineRanges {
        scale.checkPositive("scale");
        if (!(translateX >= 0 && translateX <= 1 && translateY >= 0 && translateY <= 1)) {
            throw new IllegalArgumentException(
                    "translation by " + translateX + " and " + translateY + ", expected 0 to 1");
        }
        if (shearX.low() <= -90 || shearX.high() >= 90 || shearY.low() <= -90 || shearY.high() >= 90) {
            throw new IllegalArgumentException(
                    "shear by " + shearX + " and " + shearY + " degrees, expected above -90 and below 90");
        }
    }

    /**
     * Rotations only.
     *
     * @param largest the largest angle in degrees, clockwise or counterclockwise; at least 0
     * @return the ranges
     * @throws IllegalArgumentException if the angle is negative
     */
    public static AffineRanges degrees(double largest) {
        Range none = Range.of(0, 0);
        return new AffineRanges(Range.of(-largest, largest), 0, 0, Range.of(1, 1), none, none);
    }

    /**
     * With shifts by whole pixels.
     *
     * @param x the largest shift to the left or right, as a share of the width: 0 to 1
     * @param y the largest shift up or down, as a share of the height: 0 to 1
     * @return the ranges
     * @throws IllegalArgumentException if a share is not in 0 to 1
     */
    public AffineRanges translate(double x, double y) {
        return new AffineRanges(angle, x, y, scale, shearX, shearY);
    }

    /**
     * With scaling.
     *
     * @param low the least enlargement
     * @param high the greatest
     * @return the ranges
     * @throws IllegalArgumentException if a number is not positive
     */
    public AffineRanges scale(double low, double high) {
        return new AffineRanges(angle, translateX, translateY, Range.of(low, high), shearX, shearY);
    }

    /**
     * With shear.
     *
     * @param x the largest horizontal shear in degrees, 0 to below 90
     * @param y the largest vertical shear in degrees, 0 to below 90
     * @return the ranges
     * @throws IllegalArgumentException if an angle is out of range
     */
    public AffineRanges shear(double x, double y) {
        return new AffineRanges(angle, translateX, translateY, scale, Range.of(-x, x), Range.of(-y, y));
    }
}
