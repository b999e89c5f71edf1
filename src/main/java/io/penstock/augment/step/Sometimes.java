// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.pixels.Canvas;
import io.penstock.augment.value.Size;
import io.penstock.memory.DType;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A change without parameters of its own, made with a probability.
 *
 * @param operation the name
 * @param settings what the change depends on, for the text; may be empty
 * @param channels which images it takes
 * @param motion how it moves pixels
 * @param probability of the change
 * @param change the change, which keeps the size
 * @param op what kernels do for it; null if there is no kernel
 */
public record Sometimes(String operation, String settings, Channels channels, Motion motion, double probability,
        Change change, @Nullable PixelOp op) implements Step {

    private static final List<String> PARAMETERS = List.of("applied");
    private static final List<DType> TYPES = List.of(DType.U8);

    /** Which images an operation takes. */
    public enum Channels {
        /** All. */
        ANY,
        /** Those of one or three channels. */
        GRAY_OR_RGB
    }

    /** How pixels move. */
    public enum Motion {
        /** They stay. */
        NONE,
        /** Left and right are mirrored. */
        HORIZONTAL,
        /** Top and bottom are mirrored. */
        VERTICAL
    }

    /** A change of an image in place. */
    @FunctionalInterface
    public interface Change {
        void apply(Canvas canvas);
    }

    public Sometimes {
        Step.checkProbability(probability);
    }

    /** Returns the number in the settings. */
    public double setting() {
        return Double.parseDouble(settings.substring(settings.lastIndexOf(' ') + 1));
    }

    @Override
    public List<String> parameters() {
        return PARAMETERS;
    }

    @Override
    public Size check(Size image, int count) {
        if (channels == Channels.GRAY_OR_RGB) {
            Step.checkGrayOrRgb(operation, count);
        }
        return image;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        values[at] = random.nextDouble() < probability ? 1 : 0;
    }

    @Override
    public boolean isGeometric() {
        return motion != Motion.NONE;
    }

    @Override
    public void place(double[] values, int at, Placement placement) {
        if (values[at] != 0 && motion == Motion.HORIZONTAL) {
            placement.flipHorizontally();
        } else if (values[at] != 0 && motion == Motion.VERTICAL) {
            placement.flipVertically();
        }
    }

    @Override
    public List<DType> types() {
        return TYPES;
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        if (op == null) {
            Step.super.addTo(passes, record);
        } else {
            passes.add(op, record[0]);
        }
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        if (values[at] != 0) {
            change.apply(canvas);
        }
    }

    @Override
    public String toString() {
        return operation + "(" + settings + (settings.isEmpty() ? "" : ", ") + "p " + probability + ")";
    }
}
