// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Form.Trait;
import io.penstock.image.AutoAugmentPolicy;
import io.penstock.image.Interpolation;
import io.penstock.memory.DType;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Applies operations drawn from a list, one after the other: torchvision's RandAugment, TrivialAugmentWide and
 * AutoAugment, which applies one of 25 learned pairs, each operation with a probability.
 *
 * @param kind which policy
 * @param operations how many
 * @param magnitude RandAugment's bin, 0 to 30
 * @param learned AutoAugment's pairs; null for another policy
 * @param interpolation how images are read
 */
public record Policy(Kind kind, int operations, int magnitude, @Nullable AutoAugmentPolicy learned,
        Interpolation interpolation) implements Step {

    private static final int LAST_BIN = 30;
    private static final int MOST_OPERATIONS = 16;
    /** The operations that two of the policies draw from: all but the last. */
    private static final int OPERATIONS = 14;

    /** The policies with their own table of magnitudes: each has bins from 0 to a greatest one. */
    public enum Kind {
        RAND_AUGMENT("randAugment", 30, 0.3, 150.0 / 331, 30, 0.9, 8, 4),
        TRIVIAL_AUGMENT_WIDE("trivialAugmentWide", 30, 0.99, 0, 135, 0.99, 8, 6),
        AUTO_AUGMENT("autoAugment", 9, 0.3, 150.0 / 331, 30, 0.9, 8, 4),
        AUG_MIX("augMix", 9, 0.3, 1.0 / 3, 30, 0.9, 4, 4);

        private static final double WIDE_SHIFT_PIXELS = 32;

        final String operation;
        private final int lastBin;
        private final double shear;
        /** The greatest shift as a share of the side; 0 for a fixed number of pixels. */
        private final double shift;
        private final double degrees;
        private final double factor;
        private final int bits;
        private final int lostBits;

        Kind(String operation, int lastBin, double shear, double shift, double degrees, double factor, int bits,
                int lostBits) {
            this.operation = operation;
            this.lastBin = lastBin;
            this.shear = shear;
            this.shift = shift;
            this.degrees = degrees;
            this.factor = factor;
            this.bits = bits;
            this.lostBits = lostBits;
        }

        /** Returns a shear as a tangent, a shift in pixels, degrees, a change of a factor, bits, or a threshold. */
        double magnitude(Operation operation, int bin, int height, int width) {
            return switch (operation) {
                case IDENTITY, AUTOCONTRAST, EQUALIZE, INVERT -> 0;
                case SHEAR_X, SHEAR_Y -> shear * bin / lastBin;
                case TRANSLATE_X -> Math.floor((shift > 0 ? shift * width : WIDE_SHIFT_PIXELS) * bin / lastBin);
                case TRANSLATE_Y -> Math.floor((shift > 0 ? shift * height : WIDE_SHIFT_PIXELS) * bin / lastBin);
                case ROTATE -> degrees * bin / lastBin;
                case BRIGHTNESS, COLOR, CONTRAST, SHARPNESS -> factor * bin / lastBin;
                case POSTERIZE -> bits - Math.rint((double) bin * lostBits / lastBin);
                case SOLARIZE -> 255.0 * (lastBin - bin) / lastBin;
            };
        }
    }

    /** The operations, in torchvision's order. */
    public enum Operation {
        IDENTITY, SHEAR_X, SHEAR_Y, TRANSLATE_X, TRANSLATE_Y, ROTATE, BRIGHTNESS, COLOR, CONTRAST, SHARPNESS, POSTERIZE,
        SOLARIZE, AUTOCONTRAST, EQUALIZE, INVERT;

        public static final List<Operation> ALL = List.of(values());

        /** Returns the operation with a number in the parameters. */
        public static Operation of(double number) {
            int index = (int) number;
            if (index < 0 || index >= ALL.size()) {
                throw new IllegalArgumentException("operation " + index + ", expected 0 to " + (ALL.size() - 1));
            }
            return ALL.get(index);
        }

        /** Tells whether a magnitude may be negative. */
        boolean isSigned() {
            return compareTo(SHEAR_X) >= 0 && compareTo(SHARPNESS) <= 0;
        }

        /** Tells whether pixels move. */
        boolean isGeometric() {
            return compareTo(SHEAR_X) >= 0 && compareTo(ROTATE) <= 0;
        }
    }

    public Policy {
        if (operations < 0 || operations > MOST_OPERATIONS || magnitude < 0 || magnitude > LAST_BIN) {
            throw new IllegalArgumentException(kind.operation + " of " + operations + " operations with magnitude "
                    + magnitude + ", expected 0 to " + MOST_OPERATIONS + " and 0 to " + LAST_BIN);
        }
    }

    public static Policy randAugment(int operations, int magnitude, Interpolation interpolation) {
        return new Policy(Kind.RAND_AUGMENT, operations, magnitude, null, interpolation);
    }

    public static Policy trivialAugmentWide(Interpolation interpolation) {
        return new Policy(Kind.TRIVIAL_AUGMENT_WIDE, 1, 0, null, interpolation);
    }

    public static Policy autoAugment(AutoAugmentPolicy learned, Interpolation interpolation) {
        return new Policy(Kind.AUTO_AUGMENT, 2, 0, learned, interpolation);
    }

    @Override
    public Form form() {
        Form form = Form.of(kind.operation, Trait.GEOMETRIC, Trait.COLOR);
        for (int i = 1; i <= operations; i++) {
            form = form.with(DType.U8, "operation" + i).with(DType.F64, "magnitude" + i);
        }
        return form;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        if (learned != null) {
            AutoAugmentPairs.Pair pair = AutoAugmentPairs.of(learned).pair(random.nextInt(AutoAugmentPairs.PAIRS));
            draw(pair.first(), random, height, width, values, at);
            draw(pair.second(), random, height, width, values, at + 2);
            return;
        }
        for (int i = 0; i < operations; i++) {
            Operation operation = Operation.ALL.get(random.nextInt(OPERATIONS));
            int bin = kind == Kind.RAND_AUGMENT ? magnitude : random.nextInt(LAST_BIN + 1);
            set(operation, kind.magnitude(operation, bin, height, width), random.nextBoolean(), values, at + 2 * i);
        }
    }

    /** Draws an operation. One that is not applied becomes the identity; its sign is drawn all the same. */
    private static void draw(AutoAugmentPairs.Trial trial, RandomGenerator random, int height, int width,
            double[] values, int at) {
        boolean isApplied = random.nextDouble() < trial.probability();
        Operation operation = isApplied ? trial.operation() : Operation.IDENTITY;
        boolean isNegative = random.nextBoolean();
        set(operation, Kind.AUTO_AUGMENT.magnitude(operation, trial.bin(), height, width), isNegative, values, at);
    }

    /** Sets the two parameters of an operation. */
    private static void set(Operation operation, double magnitude, boolean isNegative, double[] values, int at) {
        values[at] = operation.ordinal();
        values[at + 1] = isNegative && operation.isSigned() ? -magnitude : magnitude;
    }

    @Override
    public void place(double[] values, int at, Placement placement) {
        for (int i = at; i < at + 2 * operations; i += 2) {
            Operation operation = Operation.of(values[i]);
            if (operation.isGeometric()) {
                inverse(operation, values[i + 1], placement.inverse(), placement.height(), placement.width());
                placement.affine(placement.inverse());
            }
        }
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        for (int i = 0; i < operations; i++) {
            addTo(passes, interpolation, record[2 * i], record[2 * i + 1]);
        }
    }

    /**
     * Adds the kernels' operation for a policy's operation, whose number and magnitude are at these places in a row.
     */
    static void addTo(Passes passes, Interpolation interpolation, int operation, int magnitude) {
        passes.add(new PixelOp(PixelOp.Kind.POLICY, PixelOp.setting(interpolation), 0, magnitude), operation);
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        for (int i = at; i < at + 2 * operations; i += 2) {
            apply(checked(values[i], values[i + 1]), values[i + 1], canvas, interpolation);
        }
    }

    /** Returns the operation with a number in the parameters, if the magnitude beside it fits. */
    static Operation checked(double number, double magnitude) {
        Operation operation = Operation.of(number);
        if (operation == Operation.POSTERIZE) {
            Step.checkParameter("bits", magnitude, 0, Byte.SIZE);
        }
        return operation;
    }

    /** Applies one operation. A mask changes only if the operation moves pixels. */
    public static void apply(Operation operation, double size, Canvas canvas, Interpolation interpolation) {
        if (operation.isGeometric()) {
            inverse(operation, size, canvas.work().inverse(), canvas.height(), canvas.width());
            Affine.warp(canvas, canvas.work().inverse(), interpolation, 0);
        } else if (!canvas.isMask()) {
            recolor(operation, size, canvas);
        }
    }

    /** Sets the map of output centers to input centers. Shears fix the upper left corner. */
    private static void inverse(Operation operation, double size, double[] m, int height, int width) {
        switch (operation) {
            case SHEAR_X -> {
                Affine.inverse(m, height, width, 0, 0, 0, 1, 0, 0);
                m[1] = size;
                m[2] += size * height / 2;
            }
            case SHEAR_Y -> {
                Affine.inverse(m, height, width, 0, 0, 0, 1, 0, 0);
                m[3] = size;
                m[5] += size * width / 2;
            }
            case TRANSLATE_X -> Affine.inverse(m, height, width, 0, size, 0, 1, 0, 0);
            case TRANSLATE_Y -> Affine.inverse(m, height, width, 0, 0, size, 1, 0, 0);
            default -> Affine.inverse(m, height, width, -size, 0, 0, 1, 0, 0);
        }
    }

    private static void recolor(Operation operation, double size, Canvas canvas) {
        switch (operation) {
            case BRIGHTNESS -> ColorChanges.brightness(canvas, 1 + size);
            case COLOR -> ColorChanges.saturation(canvas, 1 + size);
            case CONTRAST -> ColorChanges.contrast(canvas, 1 + size);
            case SHARPNESS -> ColorChanges.sharpen(canvas, (float) (1 - (1 + size)));
            case POSTERIZE -> ColorChanges.posterize(canvas, (int) size);
            case SOLARIZE -> ColorChanges.solarize(canvas, size);
            case AUTOCONTRAST -> ColorChanges.autocontrast(canvas);
            case EQUALIZE -> ColorChanges.equalize(canvas);
            case INVERT -> ColorChanges.solarize(canvas, 0);
            default -> { }
        }
    }

    @Override
    public String toString() {
        return kind.operation + "(" + (learned != null ? learned + ", " : kind == Kind.RAND_AUGMENT
                ? operations + " operations, magnitude " + magnitude + ", " : "") + interpolation + ")";
    }
}
