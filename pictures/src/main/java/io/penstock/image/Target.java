// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

/**
 * A field of a sample whose places are those of an image field: a pipeline's geometric steps move it along. Other steps
 * leave it as it is.
 *
 * {@snippet :
 * Dataset train = Augment.images().randomResizedCrop(512, 512).horizontalFlip(0.5)
 *         .mapped(images, "image", Target.mask("mask").outside(255), Target.boxes("boxes").minimum(16, 0.2));
 * }
 *
 * <p>Coordinates are in pixels of the image field, x to the right and y down. They are continuous: the pixel in column
 * x covers x to x + 1, so an image of 640 columns reaches from 0 to 640, and a mirrored x is 640 - x. For data whose
 * coordinates are indices of pixels, where a mirrored x is 639 - x, use {@link Coordinates#PIXEL_INDICES}.
 */
public sealed interface Target permits Target.Mask, Target.Boxes, Target.Keypoints {

    /** What a number means. */
    enum Coordinates {
        /** The distance from the image's edge. */
        AREA,
        /** The index of a pixel, whose center is half a pixel further. */
        PIXEL_INDICES
    }

    /** {@return the field's name} */
    String field();

    /**
     * A mask with class 0 outside the image.
     *
     * @param field the name of a field of {@code u8 [H, W]} or {@code u8 [H, W, C]}, of the image's height and width
     * @return the target
     */
    static Mask mask(String field) {
        return new Mask(field, 0);
    }

    /**
     * Boxes, of which those below 1 pixel of area become invalid.
     *
     * @param field the name of a field of {@code f32 [N, 4]}: x and y of the upper left corner, then of the lower right
     *     one; N may vary by sample
     * @return the target
     */
    static Boxes boxes(String field) {
        return new Boxes(field, Coordinates.AREA, 1, 0);
    }

    /**
     * Keypoints.
     *
     * @param field the name of a field of {@code f32 [..., 2]}: x and y; the first dimension may vary by sample
     * @return the target
     */
    static Keypoints keypoints(String field) {
        return new Keypoints(field, Coordinates.AREA);
    }

    /**
     * Classes of pixels. They are moved, never mixed: the nearest pixel counts. So no class comes into a mask that was
     * not in it, except the one outside.
     *
     * @param field the field's name
     * @param outside the class outside the image, 0 to 255
     */
    record Mask(String field, int outside) implements Target {

        /**
         * Checks the class.
         *
         * @throws IllegalArgumentException if it is not in 0 to 255
         */
        public Mask {
            if (outside < 0 || outside > 255) {
                throw new IllegalArgumentException("fill " + outside + ", expected 0 to 255");
            }
        }

        /**
         * Sets the class outside the image.
         *
         * @param value 0 to 255; 255 is often a class that the loss ignores
         * @return a new target
         * @throws IllegalArgumentException if the class is not in 0 to 255
         */
        public Mask outside(int value) {
            return new Mask(field, value);
        }
    }

    /**
     * Boxes. Each step moves the four corners; the new box encloses them and is cut at the image's edges. A field
     * {@code NAME_valid}, {@code bool [N]}, tells which boxes are still large enough; the others become 0, 0, 0, 0.
     * Boxes keep their order, so a field of their classes needs no change.
     *
     * @param field the field's name
     * @param coordinates what the numbers mean
     * @param minimumArea the least area in pixels of a valid box, at least 0; a box without area is never valid
     * @param minimumVisible the least share of the box's area that was not cut off, 0 to 1
     */
    record Boxes(String field, Coordinates coordinates, double minimumArea, double minimumVisible) implements Target {

        /** What is appended to the name of the field that tells which boxes are valid. */
        public static final String VALID_SUFFIX = "_valid";

        /**
         * Checks the bounds.
         *
         * @throws IllegalArgumentException if a bound is out of range
         */
        public Boxes {
            if (!(minimumArea >= 0 && minimumVisible >= 0 && minimumVisible <= 1)) {
                throw new IllegalArgumentException("boxes of at least " + minimumArea + " pixels, of which "
                        + minimumVisible + " are visible, expected at least 0, and 0 to 1");
            }
        }

        /**
         * Sets which boxes are valid.
         *
         * @param area the least area in pixels, at least 0
         * @param visible the least share of the box's area that was not cut off, 0 to 1
         * @return a new target
         * @throws IllegalArgumentException if a bound is out of range
         */
        public Boxes minimum(double area, double visible) {
            return new Boxes(field, coordinates, area, visible);
        }

        /**
         * Sets what the numbers mean.
         *
         * @param meaning the coordinates before and after
         * @return a new target
         */
        public Boxes in(Coordinates meaning) {
            return new Boxes(field, meaning, minimumArea, minimumVisible);
        }
    }

    /**
     * Keypoints. They move even beyond the image's edges. A field {@code NAME_visible}, {@code bool} with the shape
     * without its last dimension, tells which points are inside the image after every step.
     *
     * @param field the field's name
     * @param coordinates what the numbers mean
     */
    record Keypoints(String field, Coordinates coordinates) implements Target {

        /** What is appended to the name of the field that tells which points are visible. */
        public static final String VISIBLE_SUFFIX = "_visible";

        /**
         * Sets what the numbers mean.
         *
         * @param meaning the coordinates before and after
         * @return a new target
         */
        public Keypoints in(Coordinates meaning) {
            return new Keypoints(field, meaning);
        }
    }
}
