// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.pixels.Canvas;
import io.penstock.augment.value.Size;
import io.penstock.memory.DType;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * A change without parameters of its own, made with a probability. A flip takes all images, the others gray or RGB.
 *
 * @param operation the name
 * @param settings what the change depends on, for the text; may be empty
 * @param probability of the change
 * @param op the change, which keeps the size
 */
public record Sometimes(String operation, String settings, double probability, PixelOp op) implements Step {

    private static final List<String> PARAMETERS = List.of("applied");
    private static final List<DType> TYPES = List.of(DType.U8);

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
    public Size check(Size image, int channels) {
        if (!isGeometric()) {
            Step.checkGrayOrRgb(operation, channels);
        }
        return image;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        values[at] = random.nextDouble() < probability ? 1 : 0;
    }

    @Override
    public boolean isGeometric() {
        return op.kind().moves();
    }

    @Override
    public void place(double[] values, int at, Placement placement) {
        if (values[at] != 0 && op.kind() == PixelOp.Kind.FLIP_HORIZONTALLY) {
            placement.flipHorizontally();
        } else if (values[at] != 0 && op.kind() == PixelOp.Kind.FLIP_VERTICALLY) {
            placement.flipVertically();
        }
    }

    @Override
    public List<DType> types() {
        return TYPES;
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        passes.add(op, record[0]);
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        if (values[at] != 0) {
            PixelOp.change(op.kind(), op.amount(), canvas);
        }
    }

    @Override
    public String toString() {
        return operation + "(" + settings + (settings.isEmpty() ? "" : ", ") + "p " + probability + ")";
    }
}
