// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.augment.step.Form.Trait;
import io.penstock.image.Range;
import io.penstock.memory.DType;
import java.util.random.RandomGenerator;

/**
 * Changes brightness, contrast, saturation and hue, in a random order: torchvision's ColorJitter.
 *
 * @param brightness the factors to draw from; from 1 to 1 for no change
 * @param contrast the same
 * @param saturation the same
 * @param hue the shifts to draw from, in turns of the color circle; from 0 to 0 for no change
 */
public record ColorJitter(Range brightness, Range contrast, Range saturation, Range hue) implements Step {

    private static final Form FORM = Form.of("colorJitter", Trait.COLOR)
            .with(DType.U8, "first", "second", "third", "fourth")
            .with(DType.F64, "brightness", "contrast", "saturation", "hue");

    public static final int CHANGES = 4;
    public static final int CONTRAST = 1;
    public static final int HUE = 3;
    private static final Planes.Change[] ALL_CHANGES = Planes.Change.values();
    private static final Range UNCHANGED = Range.of(1, 1);

    public ColorJitter {
        if (brightness.low() < 0 || contrast.low() < 0 || saturation.low() < 0 || hue.low() < -0.5
                || hue.high() > 0.5) {
            throw new IllegalArgumentException("brightness " + brightness + ", contrast " + contrast + ", saturation "
                    + saturation + ", hue " + hue + ", expected factors of at least 0 and hues in -0.5..0.5");
        }
    }

    /** Returns the range of factors within a distance of 1, but not below 0. */
    public static Range around1(double distance) {
        return Range.of(Math.max(1 - distance, 0), 1 + distance);
    }

    @Override
    public Form form() {
        return FORM;
    }

    @Override
    public void draw(RandomGenerator random, int height, int width, double[] values, int at) {
        for (int i = 0; i < CHANGES; i++) {
            values[at + i] = i;
        }
        for (int i = CHANGES - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            double change = values[at + i];
            values[at + i] = values[at + j];
            values[at + j] = change;
        }
        values[at + CHANGES] = Distributions.uniform(random, brightness);
        values[at + CHANGES + 1] = Distributions.uniform(random, contrast);
        values[at + CHANGES + 2] = Distributions.uniform(random, saturation);
        values[at + CHANGES + 3] = Distributions.uniform(random, hue);
    }

    @Override
    public void addTo(Passes passes, int[] record) {
        int setting = 0;
        for (int change = 0; change < CHANGES; change++) {
            setting |= changes(change) ? 1 << change : 0;
        }
        passes.add(new PixelOp(PixelOp.Kind.JITTER, setting, 0, 0), record[0]);
        if (changes(CONTRAST)) {
            passes.add(new PixelOp(PixelOp.Kind.JITTER_REST, setting, 0, 0), record[0]);
        }
    }

    /** Tells whether a change is made at all. */
    private boolean changes(int change) {
        return switch (change) {
            case 0 -> !brightness.equals(UNCHANGED);
            case CONTRAST -> !contrast.equals(UNCHANGED);
            case 2 -> !saturation.equals(UNCHANGED);
            default -> hue.low() != 0 || hue.high() != 0;
        };
    }

    @Override
    public void apply(double[] values, int at, Canvas canvas) {
        for (int i = 0; i < CHANGES; i++) {
            int change = (int) values[at + i];
            if (change < 0 || change >= CHANGES) {
                throw new IllegalArgumentException("color change " + change + ", expected 0 to 3");
            }
        }
        Step.checkParameter("hue", values[at + CHANGES + HUE], -1, 1);
        for (int i = 0; i < CHANGES; i++) {
            int change = (int) values[at + i];
            if (changes(change)) {
                add(change, values[at + CHANGES + change], canvas);
            }
        }
        finish(canvas);
    }

    /** Makes a change, by {@link #finish} at the latest. Those of saturation and hue leave gray images as they are. */
    public static void add(int change, double by, Canvas canvas) {
        if (canvas.channels() == 3) {
            canvas.work().planes().add(ALL_CHANGES[change], by);
        } else if (change == 0) {
            ColorChanges.brightness(canvas, by);
        } else if (change == CONTRAST) {
            ColorChanges.contrast(canvas, by);
        }
    }

    /** Makes the changes that were added. */
    public static void finish(Canvas canvas) {
        if (canvas.channels() == 3) {
            canvas.work().planes().run(canvas);
        }
    }

    @Override
    public String toString() {
        return "colorJitter(brightness " + brightness + ", contrast " + contrast + ", saturation " + saturation
                + ", hue " + hue + ")";
    }
}
