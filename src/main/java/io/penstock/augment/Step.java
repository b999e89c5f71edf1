// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import java.util.List;
import java.util.random.RandomGenerator;

/**
 * One step of a pipeline: draws its parameters, and applies them to an image. Immutable and thread-safe.
 *
 * <p>Parameters are doubles in an array that a worker reuses, so that drawing allocates nothing. They are all that
 * {@link #apply} depends on, besides the step's settings.
 */
sealed interface Step permits Affine, ColorJitter, Crop, Erasing, Policy, RandomResizedCrop, Resize,
        Sometimes {

    /** No step has more parameters. */
    int MAX_PARAMETERS = 8;

    /** The parameters of a step that draws a rectangle, in pixels. */
    List<String> RECTANGLE = List.of("top", "left", "height", "width");

    /** The operation's name, which is also the step's if the pipeline has one of it. */
    String operation();

    /** The names of the parameters, in their order in the array: at most {@value #MAX_PARAMETERS}. */
    List<String> parameters();

    /** Tells whether the parameters are random; otherwise they depend on the image's size only. */
    default boolean isRandom() {
        return true;
    }

    /** Tells whether the result's size is the same for images of all sizes. */
    default boolean fixesSize() {
        return false;
    }

    /**
     * Returns the size of the result.
     *
     * @throws IllegalArgumentException if images of this size or number of channels cannot be transformed
     */
    Size check(Size image, int channels);

    /** Draws the parameters for an image of this size into the array, from index {@code at} on. */
    void draw(RandomGenerator random, int height, int width, double[] values, int at);

    /** Transforms an image by the parameters from index {@code at} on. */
    void apply(double[] values, int at, Canvas canvas);

    /** Sets the parameters that {@link #RECTANGLE} names. */
    static void setRectangle(double[] values, int at, double top, double left, double height, double width) {
        values[at] = top;
        values[at + 1] = left;
        values[at + 2] = height;
        values[at + 3] = width;
    }

    /** Checks a number that is a probability. */
    static void checkProbability(double probability) {
        if (!(probability >= 0 && probability <= 1)) {
            throw new IllegalArgumentException("probability " + probability + ", expected 0 to 1");
        }
    }

    /** Checks that an operation on colors can take images of these channels. */
    static void checkGrayOrRgb(String operation, int channels) {
        if (channels != 1 && channels != 3) {
            throw new IllegalArgumentException(operation + " of images of " + channels + " channels, expected 1 or 3");
        }
    }
}
