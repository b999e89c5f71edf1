// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.pixels.Canvas;
import io.penstock.augment.step.AutoAugmentPairs.Pair;
import io.penstock.augment.step.AutoAugmentPairs.Trial;
import io.penstock.augment.value.AutoAugmentPolicy;
import io.penstock.augment.value.Interpolation;
import io.penstock.augment.value.Size;
import io.penstock.memory.DType;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Applies one of a policy's 25 pairs of operations, each operation with a probability: torchvision's AutoAugment. An
 * operation that is left out is the identity.
 *
 * @param policy the pairs
 * @param interpolation how images are read
 */
public record AutoAugment(AutoAugmentPolicy policy, Interpolation interpolation) implements Step {

    private static final int OPERATIONS = 2;
    private static final List<String> PARAMETERS = Policy.parameters(OPERATIONS);

    @Override
    public String operation() {
        return Policy.Kind.AUTO_AUGMENT.operation;
    }

    @Override
    public List<String> parameters() {
        return PARAMETERS;
    }

    @Override
    public List<DType> types() {
        return Policy.types(OPERATIONS);
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        Policy.addTo(passes, OPERATIONS, interpolation, record);
    }

    @Override
    public boolean isGeometric() {
        return true;
    }

    @Override
    public Size check(Size image, int channels) {
        Step.checkGrayOrRgb(operation(), channels);
        return image;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        Pair pair = AutoAugmentPairs.of(policy).pair(random.nextInt(AutoAugmentPairs.PAIRS));
        draw(pair.first(), random, height, width, values, at);
        draw(pair.second(), random, height, width, values, at + 2);
    }

    private static void draw(Trial trial, RandomGenerator random, int height, int width, double[] values, int at) {
        boolean isApplied = random.nextDouble() < trial.probability();
        Policy.Operation operation = isApplied ? trial.operation() : Policy.Operation.IDENTITY;
        Policy.set(operation, Policy.Kind.AUTO_AUGMENT.magnitude(operation, trial.bin(), height, width),
                random.nextBoolean(), values, at);
    }

    @Override
    public void place(double[] values, int at, Placement placement) {
        Policy.place(OPERATIONS, values, at, placement);
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        Policy.apply(OPERATIONS, values, at, canvas, interpolation);
    }

    @Override
    public String toString() {
        return "autoAugment(" + policy + ", " + interpolation + ")";
    }
}
