// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Form.Trait;
import io.penstock.image.Interpolation;
import io.penstock.memory.DType;
import java.util.Arrays;
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

    /**
     * The parameters: the shares of the image and of the chains, then the operations of all chains, then their
     * magnitudes.
     */
    @Override
    public Form form() {
        Form shares = Form.of(Policy.Kind.AUG_MIX.operation, Trait.COLOR).with(DType.F32, "original");
        Form operations = Form.of("");
        Form magnitudes = operations;
        for (int chain = 1; chain <= chains; chain++) {
            shares = shares.with(DType.F32, "weight" + chain);
            for (int i = 1; i <= MOST_DEPTH; i++) {
                operations = operations.with(DType.U8, "operation" + chain + i);
                magnitudes = magnitudes.with(DType.F64, "magnitude" + chain + i);
            }
        }
        return shares.with(operations).with(magnitudes);
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        int operations = 1 + chains;
        for (int i = 0; i < chains * MOST_DEPTH; i++) {
            passes.chain(1 + i / MOST_DEPTH);
            Policy.addTo(passes, interpolation, record[operations + i], record[operations + chains * MOST_DEPTH + i]);
        }
        passes.chain(0);
        passes.add(new PixelOp(PixelOp.Kind.MIX, chains, 0, 0), record[0]);
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        double original = Distributions.beta(random, alpha);
        Distributions.dirichlet(random, alpha, values, at + 1, chains);
        values[at] = original;
        for (int chain = 0; chain < chains; chain++) {
            values[at + 1 + chain] *= 1 - original;
            int length = depth > 0 ? depth : 1 + random.nextInt(MOST_DEPTH);
            for (int i = 0; i < MOST_DEPTH; i++) {
                Policy.Operation operation = Policy.Operation.IDENTITY;
                double magnitude = 0;
                if (i < length) {
                    operation = Policy.Operation.of(1 + random.nextInt(OPERATIONS));
                    magnitude = Policy.Kind.AUG_MIX.magnitude(operation, random.nextInt(severity), height, width);
                    magnitude = random.nextBoolean() && operation.isSigned() ? -magnitude : magnitude;
                }
                int to = at + 1 + chains + chain * MOST_DEPTH + i;
                values[to] = operation.ordinal();
                values[to + chains * MOST_DEPTH] = magnitude;
            }
        }
    }

    /** Sums in f32, the image first, and truncates at the end. */
    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        canvas.keep();
        begin(canvas);
        add(canvas, (float) values[at]);
        for (int chain = 0; chain < chains; chain++) {
            canvas.recall();
            for (int i = 0; i < MOST_DEPTH; i++) {
                int from = at + 1 + chains + chain * MOST_DEPTH + i;
                double magnitude = values[from + chains * MOST_DEPTH];
                Policy.apply(Policy.checked(values[from], magnitude), magnitude, canvas, interpolation);
            }
            add(canvas, (float) values[at + 1 + chain]);
        }
        end(canvas);
    }

    /** Begins a sum of images. */
    public static void begin(Canvas canvas) {
        Arrays.fill(sum(canvas), 0, canvas.byteCount(), 0);
    }

    /** Adds an image to the sum. */
    public static void add(Canvas canvas, float weight) {
        add(canvas.pixels(), weight, sum(canvas), canvas.byteCount());
    }

    /** Makes the sum the image. */
    public static void end(Canvas canvas) {
        truncate(sum(canvas), canvas.pixels(), canvas.byteCount());
    }

    private static float[] sum(Canvas canvas) {
        return canvas.work().floats(4, canvas.byteCount());
    }

    private static void add(byte[] pixels, float weight, float[] sum, int count) {
        for (int i = 0; i < count; i++) {
            sum[i] += weight * (pixels[i] & 0xFF);
        }
    }

    private static void truncate(float[] sum, byte[] pixels, int count) {
        for (int i = 0; i < count; i++) {
            pixels[i] = (byte) (int) Math.min(Math.max(sum[i], 0f), 255f);
        }
    }

    @Override
    public String toString() {
        return "augMix(severity " + severity + ", " + chains + " chains of depth " + (depth == 0 ? "1 to 3" : depth)
                + ", alpha " + alpha + ", " + interpolation + ")";
    }
}
