// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.memory.DType;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Applies random operations of 14, each with a magnitude: torchvision's RandAugment and TrivialAugmentWide.
 *
 * @param kind which of the two
 * @param operations how many are applied, one after the other: 1 to 4
 * @param magnitude the bin of RandAugment's magnitudes, 0 to 30; 0 for TrivialAugmentWide, which draws it
 * @param interpolation how images are read
 */
record Policy(Kind kind, int operations, int magnitude, Interpolation interpolation) implements Step {

    private static final int LAST_BIN = 30;
    private static final int MOST_OPERATIONS = MAX_PARAMETERS / 2;

    /** The two policies, with their greatest magnitudes. */
    enum Kind {
        RAND_AUGMENT("randAugment", 0.3, 30, 0.9, 4), TRIVIAL_AUGMENT_WIDE("trivialAugmentWide", 0.99, 135, 0.99, 6);

        final String operation;
        final double shear;
        final double degrees;
        final double factor;
        final int lostBits;

        Kind(String operation, double shear, double degrees, double factor, int lostBits) {
            this.operation = operation;
            this.shear = shear;
            this.degrees = degrees;
            this.factor = factor;
            this.lostBits = lostBits;
        }
    }

    /** The operations, in torchvision's order. */
    enum Operation {
        IDENTITY, SHEAR_X, SHEAR_Y, TRANSLATE_X, TRANSLATE_Y, ROTATE, BRIGHTNESS, COLOR, CONTRAST, SHARPNESS, POSTERIZE,
        SOLARIZE, AUTOCONTRAST, EQUALIZE;

        static final List<Operation> ALL = List.of(values());
    }

    Policy {
        if (operations < 1 || operations > MOST_OPERATIONS || magnitude < 0 || magnitude > LAST_BIN) {
            throw new IllegalArgumentException(kind.operation + " of " + operations + " operations with magnitude "
                    + magnitude + ", expected 1 to " + MOST_OPERATIONS + " and 0 to " + LAST_BIN);
        }
    }

    @Override
    public String operation() {
        return kind.operation;
    }

    @Override
    public List<String> parameters() {
        return IntStream.rangeClosed(1, operations).boxed()
                .flatMap(i -> Stream.of("operation" + i, "magnitude" + i)).toList();
    }

    @Override
    public Size check(Size image, int channels) {
        Step.checkGrayOrRgb(kind.operation, channels);
        return image;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        for (int i = 0; i < operations; i++) {
            int operation = random.nextInt(Operation.ALL.size());
            int bin = kind == Kind.RAND_AUGMENT ? magnitude : random.nextInt(LAST_BIN + 1);
            boolean isNegative = random.nextBoolean();
            double size = magnitude(Operation.ALL.get(operation), bin, height, width);
            values[at + 2 * i] = operation;
            values[at + 2 * i + 1] = isNegative && isSigned(Operation.ALL.get(operation)) ? -size : size;
        }
    }

    /** Returns a shear as a tangent, a shift in whole pixels, degrees, a change of a factor, bits, or a threshold. */
    private double magnitude(Operation operation, int bin, int height, int width) {
        boolean isRand = kind == Kind.RAND_AUGMENT;
        return switch (operation) {
            case IDENTITY, AUTOCONTRAST, EQUALIZE -> 0;
            case SHEAR_X, SHEAR_Y -> kind.shear * bin / LAST_BIN;
            case TRANSLATE_X -> Math.floor((isRand ? 150.0 / 331 * width : 32) * bin / LAST_BIN);
            case TRANSLATE_Y -> Math.floor((isRand ? 150.0 / 331 * height : 32) * bin / LAST_BIN);
            case ROTATE -> kind.degrees * bin / LAST_BIN;
            case BRIGHTNESS, COLOR, CONTRAST, SHARPNESS -> kind.factor * bin / LAST_BIN;
            case POSTERIZE -> 8 - Math.rint((double) bin * kind.lostBits / LAST_BIN);
            case SOLARIZE -> 255.0 * (LAST_BIN - bin) / LAST_BIN;
        };
    }

    private static boolean isSigned(Operation operation) {
        return operation.compareTo(Operation.SHEAR_X) >= 0 && operation.compareTo(Operation.SHARPNESS) <= 0;
    }

    @Override
    public List<DType> types() {
        return IntStream.range(0, 2 * operations).mapToObj(p -> p % 2 == 0 ? DType.U8 : DType.F64).toList();
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        for (int i = 0; i < operations; i++) {
            passes.add(new PixelOp(PixelOp.Kind.POLICY, interpolation == Interpolation.BILINEAR ? 1 : 0, 0, 0),
                    record[2 * i]);
        }
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        for (int i = 0; i < operations; i++) {
            int operation = (int) values[at + 2 * i];
            if (operation < 0 || operation >= Operation.ALL.size()) {
                throw new IllegalArgumentException("operation " + operation + ", expected 0 to 13");
            }
            apply(Operation.ALL.get(operation), values[at + 2 * i + 1], interpolation, canvas);
        }
    }

    /** Applies one operation. */
    static void apply(Operation operation, double size, Interpolation interpolation, Canvas canvas) {
        double middleRow = (canvas.height() - 1) / 2.0;
        double middleColumn = (canvas.width() - 1) / 2.0;
        switch (operation) {
            case IDENTITY -> { }
            case SHEAR_X -> Warp.affine(canvas, 1, (float) size, (float) (size * canvas.height() / 2 + middleColumn), 0,
                    1, (float) middleRow, interpolation, 0);
            case SHEAR_Y -> Warp.affine(canvas, 1, 0, (float) middleColumn, (float) size, 1,
                    (float) (size * canvas.width() / 2 + middleRow), interpolation, 0);
            case TRANSLATE_X -> Affine.warp(canvas, 0, size, 0, 1, 0, 0, interpolation, 0);
            case TRANSLATE_Y -> Affine.warp(canvas, 0, 0, size, 1, 0, 0, interpolation, 0);
            case ROTATE -> Affine.warp(canvas, -size, 0, 0, 1, 0, 0, interpolation, 0);
            case BRIGHTNESS -> ColorChanges.brightness(canvas, 1 + size);
            case COLOR -> ColorChanges.saturation(canvas, 1 + size);
            case CONTRAST -> ColorChanges.contrast(canvas, 1 + size);
            case SHARPNESS -> ColorChanges.sharpness(canvas, 1 + size);
            case POSTERIZE -> ColorChanges.posterize(canvas, (int) size);
            case SOLARIZE -> ColorChanges.solarize(canvas, size);
            case AUTOCONTRAST -> ColorChanges.autocontrast(canvas);
            case EQUALIZE -> ColorChanges.equalize(canvas);
        }
    }

    @Override
    public String toString() {
        return kind.operation + "("
                + (kind == Kind.RAND_AUGMENT ? operations + " operations, magnitude " + magnitude + ", " : "")
                + interpolation + ")";
    }
}
