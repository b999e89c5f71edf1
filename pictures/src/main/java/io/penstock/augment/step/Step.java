// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import java.util.random.RandomGenerator;

/**
 * One step of a pipeline: draws its parameters, and applies them to an image. Immutable and thread-safe.
 *
 * <p>Parameters are doubles in an array that a worker reuses, so that drawing allocates nothing. They are all that
 * {@link #apply} depends on, besides the step's settings.
 */
public sealed interface Step permits Affine, AugMix, ColorJitter, Crop, Erasing, Fused, GaussianBlur, GaussianNoise,
        Pad, Perspective, Policy, RandomResizedCrop, Resize, Sometimes, ToneCurve {

    /** No step has more parameters. */
    int MAX_PARAMETERS = 64;

    /** Returns what is known of the step before it sees an image. */
    Form form();

    /**
     * Returns the size of the result: by default the image's.
     *
     * @throws IllegalArgumentException if images of this size or number of channels cannot be transformed
     */
    default Size check(Size image, int channels) {
        if (form().is(Form.Trait.COLOR) && channels != 1 && channels != 3) {
            throw new IllegalArgumentException(
                    form().operation() + " of images of " + channels + " channels, expected 1 or 3");
        }
        return image;
    }

    /** Draws the parameters for an image of this size into the array, from index {@code at} on. */
    default void draw(RandomGenerator random, int height, int width, double[] values, int at) {
    }

    /**
     * Adds to a placement what the step does to the points of its input, by the parameters from index {@code at} on.
     */
    default void place(double[] values, int at, Placement placement) {
    }

    /**
     * Adds what kernels do for this step.
     *
     * @param passes receives it
     * @param record where each parameter is in a row of the table
     * @throws IllegalArgumentException if there is no kernel for this step
     */
    void addTo(Passes passes, int[] record);

    /** Transforms an image by the parameters from index {@code at} on. */
    void apply(double[] values, int at, Canvas canvas);

    /** Sets the parameters of a rectangle. */
    static void setRectangle(double[] values, int at, double top, double left, double height, double width) {
        values[at] = top;
        values[at + 1] = left;
        values[at + 2] = height;
        values[at + 3] = width;
    }

    /** Checks a pixel value for the outside of an image. */
    static void checkFill(int fill) {
        if (fill < 0 || fill > 255) {
            throw new IllegalArgumentException("fill " + fill + ", expected 0 to 255");
        }
    }

    /** Checks a parameter of an image, which a program may have changed. */
    static void checkParameter(String name, double value, double least, double most) {
        if (!(value >= least && value <= most)) {
            String range = most < Double.MAX_VALUE ? least + " to " + most
                    : least == Double.MIN_VALUE ? "more than 0" : least + " or more";
            throw new IllegalArgumentException(name + " " + value + ", expected " + range);
        }
    }

    /** Checks a probability. */
    static void checkProbability(double probability) {
        if (!(probability >= 0 && probability <= 1)) {
            throw new IllegalArgumentException("probability " + probability + ", expected 0 to 1");
        }
    }
}
