// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.Range;
import java.util.random.RandomGenerator;

/**
 * Fills a random rectangle: torchvision's RandomErasing with a value. A height of 0 erases nothing.
 *
 * @param probability of a rectangle
 * @param scale the rectangle's area as a share of the image's
 * @param ratio its height over its width
 * @param value what all its channels become, 0 to 255
 */
public record Erasing(double probability, Range scale, Range ratio, int value) implements Step {

    private static final Form FORM = Form.of("randomErasing").withRectangle();

    public static final Range SCALE = Range.of(0.02, 0.33);
    public static final Range RATIO = Range.of(0.3, 3.3);

    private static final int TRIES = 10;

    public Erasing {
        Step.checkProbability(probability);
        scale.checkPositive("scale");
        ratio.checkPositive("ratio");
        if (value < 0 || value > 255) {
            throw new IllegalArgumentException("erasing to " + value + ", expected 0 to 255");
        }
    }

    @Override
    public Form form() {
        return FORM;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        Step.setRectangle(values, at, 0, 0, 0, 0);
        if (random.nextDouble() >= probability) {
            return;
        }
        double area = (double) height * width;
        for (int i = 0; i < TRIES; i++) {
            double target = area * Distributions.uniform(random, scale);
            double aspect = Distributions.logUniform(random, ratio);
            double h = Math.rint(Math.sqrt(target * aspect));
            double w = Math.rint(Math.sqrt(target / aspect));
            if (h < height && w < width) {
                Step.setRectangle(values, at, random.nextInt(height - (int) h + 1), random.nextInt(width - (int) w + 1),
                        h, w);
                return;
            }
        }
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        passes.add(new PixelOp(PixelOp.Kind.ERASE, 0, value, 0), record[0]);
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        canvas.fill((int) values[at], (int) values[at + 1], (int) values[at + 2], (int) values[at + 3], value);
    }

    @Override
    public String toString() {
        return "randomErasing(p " + probability + ", scale " + scale + ", ratio " + ratio + ", value " + value + ")";
    }
}
