// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Form.Trait;
import io.penstock.image.Range;
import io.penstock.memory.DType;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * Replaces every value by that of a curve: a power, or a line.
 *
 * @param kind which curve
 * @param probability of a change; otherwise the parameters are those that change nothing
 * @param first what the curve's first parameter is drawn from
 * @param second what its second one is drawn from; not used by a curve of one
 */
public record ToneCurve(Kind kind, double probability, Range first, Range second) implements Step {

    /** The logarithm of each value as a share of 255; unused for 0. */
    private static final double[] LOGARITHMS = IntStream.range(0, 256)
            .mapToDouble(i -> i == 0 ? 0 : Series.log(i * ColorChanges.ONE_255TH)).toArray();

    /** What a value becomes, before it is rounded. */
    public enum Kind {
        /** torchvision's adjust_gamma: the value, as a share of 255, to the power of gamma. */
        GAMMA(Form.of("gamma", Trait.COLOR).with(DType.F64, "gamma")),
        /** Albumentations' RandomBrightnessContrast: contrast times the value, plus brightness times 255. */
        BRIGHTNESS_CONTRAST(Form.of("brightnessContrast", Trait.COLOR).with(DType.F64, "contrast", "brightness"));

        private final Form form;

        Kind(Form form) {
            this.form = form;
        }
    }

    public ToneCurve {
        Step.checkProbability(probability);
        if (first.low() < 0) {
            throw new IllegalArgumentException(
                    kind.form.parameters().getFirst() + " " + first + ", expected at least 0");
        }
    }

    /** A power. */
    public static ToneCurve gamma(Range gamma, double probability) {
        return new ToneCurve(Kind.GAMMA, probability, gamma, Range.of(0, 0));
    }

    /** A line, by the distances of the contrast from 1 and of the brightness from 0. */
    public static ToneCurve line(double brightness, double contrast, double probability) {
        return new ToneCurve(Kind.BRIGHTNESS_CONTRAST, probability, ColorJitter.around1(contrast),
                Range.of(-brightness, brightness));
    }

    @Override
    public Form form() {
        return kind.form;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        boolean isApplied = random.nextDouble() < probability;
        double drawn = Distributions.uniform(random, first);
        values[at] = isApplied ? drawn : 1;
        if (kind == Kind.BRIGHTNESS_CONTRAST) {
            drawn = Distributions.uniform(random, second);
            values[at + 1] = isApplied ? drawn : 0;
        }
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        passes.add(new PixelOp(PixelOp.Kind.TONE, kind.ordinal(), 0, 0), record[0]);
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        if (kind == Kind.GAMMA) {
            Step.checkParameter("gamma", values[at], 0, Double.MAX_VALUE);
            applyPower(canvas, values[at]);
        } else {
            applyLine(canvas, values[at], values[at + 1]);
        }
    }

    /** Replaces values by their power. */
    public static void applyPower(Canvas canvas, double power) {
        byte[] table = canvas.work().table();
        for (int i = 0; i < table.length; i++) {
            double result = power == 0 ? 1 : i == 0 ? 0 : Series.exp(power * LOGARITHMS[i]);
            table[i] = (byte) (int) ((float) result * ColorChanges.TO_U8);
        }
        canvas.map(table);
    }

    /** Replaces values by those of a line. */
    public static void applyLine(Canvas canvas, double contrast, double brightness) {
        byte[] table = canvas.work().table();
        for (int i = 0; i < table.length; i++) {
            table[i] = (byte) (int) Math.rint(Math.clamp((float) contrast * i + (float) (brightness * 255), 0f, 255f));
        }
        canvas.map(table);
    }

    @Override
    public String toString() {
        return kind.form.operation() + "(" + kind.form.parameters().getFirst() + " " + first
                + (kind == Kind.GAMMA ? "" : ", brightness " + second) + ", p " + probability + ")";
    }
}
