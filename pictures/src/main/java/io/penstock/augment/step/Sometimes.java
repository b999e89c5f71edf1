// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Form.Trait;
import io.penstock.memory.DType;
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

    public Sometimes {
        Step.checkProbability(probability);
    }

    /** Returns a change without settings. */
    public static Sometimes of(String operation, PixelOp.Kind kind, double probability) {
        return new Sometimes(operation, "", probability, PixelOp.of(kind));
    }

    /** Keeps the highest bits. */
    public static Sometimes posterize(int bits, double probability) {
        if (bits < 0 || bits > 8) {
            throw new IllegalArgumentException("posterize to " + bits + " bits, expected 0 to 8");
        }
        return of("posterize", "bits " + bits, probability, PixelOp.Kind.POSTERIZE, bits);
    }

    /** Inverts values from a threshold on. */
    public static Sometimes solarize(double threshold, double probability) {
        if (!(threshold >= 0 && threshold <= 255)) {
            throw new IllegalArgumentException("solarize from " + threshold + ", expected 0 to 255");
        }
        return of("solarize", "threshold " + threshold, probability, PixelOp.Kind.SOLARIZE, threshold);
    }

    /** Blends with a smoothed image, by 1 less the factor. */
    public static Sometimes sharpness(double factor, double probability) {
        if (!(factor >= 0 && factor < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("sharpness " + factor + ", expected at least 0");
        }
        return of("sharpness", "factor " + factor, probability, PixelOp.Kind.SHARPNESS, 1 - factor);
    }

    private static Sometimes of(String operation, String settings, double probability, PixelOp.Kind kind,
            double amount) {
        return new Sometimes(operation, settings, probability, new PixelOp(kind, 0, 0, (float) amount));
    }

    /** Returns the number that the setting contains. */
    public double setting() {
        return Double.parseDouble(settings.substring(settings.lastIndexOf(' ') + 1));
    }

    @Override
    public Form form() {
        return Form.of(operation, op.kind().moves() ? Trait.GEOMETRIC : Trait.COLOR).with(DType.U8, "applied");
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        values[at] = random.nextDouble() < probability ? 1 : 0;
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
