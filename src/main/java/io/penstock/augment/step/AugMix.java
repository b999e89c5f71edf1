// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.pixels.Canvas;
import io.penstock.augment.value.Interpolation;
import io.penstock.augment.value.Size;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Mixes the image with several copies of it, each changed by a chain of operations: torchvision's AugMix.
 *
 * @param severity the bins that magnitudes are drawn from, 1 to 10
 * @param chains how many copies, 1 to 3
 * @param depth the operations of a chain; 0 to draw 1 to 3 for each
 * @param alpha the parameter of the distributions of the weights, positive
 * @param interpolation how images are read
 */
public record AugMix(int severity, int chains, int depth, double alpha, Interpolation interpolation) implements Step {

    private static final int MOST_SEVERITY = 10;
    private static final int MOST_CHAINS = 3;
    private static final int MOST_DEPTH = 3;
    /** Operations are drawn from those between the identity and the inversion. */
    private static final int OPERATIONS = 13;

    public AugMix {
        if (severity < 1 || severity > MOST_SEVERITY || chains < 1 || chains > MOST_CHAINS || depth < 0
                || depth > MOST_DEPTH || !(alpha > 0 && alpha < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("augMix of severity " + severity + ", " + chains + " chains of depth "
                    + depth + ", alpha " + alpha + ", expected 1 to 10, 1 to 3, 0 to 3, and a positive alpha");
        }
    }

    @Override
    public String operation() {
        return Policy.Kind.AUG_MIX.operation;
    }

    @Override
    public List<String> parameters() {
        List<String> names = new ArrayList<>(List.of("original"));
        for (int chain = 1; chain <= chains; chain++) {
            names.add("weight" + chain);
            for (int i = 1; i <= MOST_DEPTH; i++) {
                names.add("operation" + chain + i);
                names.add("magnitude" + chain + i);
            }
        }
        return List.copyOf(names);
    }

    @Override
    public Size check(Size image, int channels) {
        Step.checkGrayOrRgb(operation(), channels);
        return image;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        double original = Distributions.beta(random, alpha);
        Distributions.dirichlet(random, alpha, values, at + 1, chains);
        for (int chain = chains - 1; chain >= 0; chain--) {             // the weights were drawn side by side
            values[at + 1 + chain * chainValues()] = values[at + 1 + chain] * (1 - original);
        }
        values[at] = original;
        for (int chain = 0; chain < chains; chain++) {
            int length = depth > 0 ? depth : 1 + random.nextInt(MOST_DEPTH);
            int to = at + 2 + chain * chainValues();
            for (int i = 0; i < MOST_DEPTH; i++, to += 2) {
                if (i < length) {
                    Policy.Operation operation = Policy.Operation.of(1 + random.nextInt(OPERATIONS));
                    int bin = random.nextInt(severity);
                    Policy.set(operation, Policy.Kind.AUG_MIX.magnitude(operation, bin, height, width),
                            random.nextBoolean(), values, to);
                } else {
                    Policy.set(Policy.Operation.IDENTITY, 0, false, values, to);
                }
            }
        }
    }

    /** Returns the parameters of a chain: its weight and its operations. */
    private static int chainValues() {
        return 1 + 2 * MOST_DEPTH;
    }

    /** The sum is in f32, the image first; at the end it is truncated. */
    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        int bytes = canvas.byteCount();
        float[] sum = canvas.floats(4, bytes);
        canvas.keep();
        begin(canvas.pixels(), (float) values[at], sum, bytes);
        for (int chain = 0; chain < chains; chain++) {
            int from = at + 1 + chain * chainValues();
            canvas.recall();
            Policy.apply(MOST_DEPTH, values, from + 1, canvas, interpolation);
            add(canvas.pixels(), (float) values[from], sum, bytes);
        }
        truncate(sum, canvas.pixels(), bytes);
    }

    private static void begin(byte[] pixels, float weight, float[] sum, int count) {
        for (int i = 0; i < count; i++) {
            sum[i] = weight * (pixels[i] & 0xFF);
        }
    }

    private static void add(byte[] pixels, float weight, float[] sum, int count) {
        for (int i = 0; i < count; i++) {
            sum[i] += weight * (pixels[i] & 0xFF);
        }
    }

    private static void truncate(float[] sum, byte[] pixels, int count) {
        for (int i = 0; i < count; i++) {
            pixels[i] = (byte) (int) Math.min(sum[i], 255f);
        }
    }

    @Override
    public String toString() {
        return "augMix(severity " + severity + ", " + chains + " chains of depth " + (depth == 0 ? "1 to 3" : depth)
                + ", alpha " + alpha + ", " + interpolation + ")";
    }
}
