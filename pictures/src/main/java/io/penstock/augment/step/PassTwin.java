// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import static io.penstock.augment.step.PassArguments.amount;
import static io.penstock.augment.step.PassArguments.fill;
import static io.penstock.augment.step.PassArguments.height;
import static io.penstock.augment.step.PassArguments.setting;
import static io.penstock.augment.step.PassArguments.width;

import io.penstock.augment.step.Policy.Operation;
import io.penstock.device.internal.RawMemory;
import io.penstock.image.Interpolation;
import io.penstock.image.Padding;
import io.penstock.image.ResizeFilter;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The kernel of a pass on the CPU: the operations that workers apply, one after the other. A parameter that is out of
 * range is moved into it, as a kernel does, which cannot refuse it. For one thread.
 */
final class PassTwin {

    private static final ThreadLocal<PassTwin> OF_THREAD = ThreadLocal.withInitial(PassTwin::new);
    private static final List<Padding.Mode> MODES = List.of(Padding.Mode.values());
    private static final List<ResizeFilter> FILTERS = List.of(ResizeFilter.values());

    private static final int CORNER_MOVES = 8;
    private static final double MOST_NOISE = 1;
    private static final double MOST_KEY = 0x1p53;
    private static final double LARGE = 0x1p1022;

    private final Canvas canvas = new Canvas();
    private final double[] moves = new double[CORNER_MOVES];
    private MemorySegment arguments = MemorySegment.NULL;
    private long image;
    /** Where the parameters of the image are, and those of the operation. */
    private long row;
    private long at;

    static void run(MemorySegment arguments) {
        PassTwin twin = OF_THREAD.get();
        twin.arguments = arguments;
        twin.run();
    }

    private void run() {
        int count = (int) PassArguments.COUNT.get(arguments);
        int channels = (int) PassArguments.CHANNELS.get(arguments);
        long sourceBytes = (long) height(arguments, 0) * width(arguments, 0) * channels;
        long targetBytes = PassArguments.HEIGHT.get(arguments) * PassArguments.WIDTH.get(arguments) * channels;
        for (image = 0; image < PassArguments.BATCH.get(arguments); image++) {
            canvas.load(PassArguments.SOURCE.get(arguments) + image * sourceBytes, height(arguments, 0),
                    width(arguments, 0), channels);
            row = PassArguments.TABLE.get(arguments) + image * PassArguments.ROW_BYTES.get(arguments);
            for (int k = 0; k < count; k++) {
                at = row + PassArguments.record(arguments, k);
                apply(k, setting(arguments, k), amount(arguments, k));
            }
            canvas.store(PassArguments.TARGET.get(arguments) + image * targetBytes);
        }
    }

    private void apply(int k, int setting, float amount) {
        PixelOp.Kind kind = PassArguments.kind(arguments, k);
        switch (kind) {
            case CROP -> crop(k, whole(0), whole(1));
            case PAD -> crop(k, 0, 0);
            case ERASE -> {
                int rows = Math.clamp(whole(2), 0, canvas.height());
                int columns = Math.clamp(whole(3), 0, canvas.width());
                canvas.fill(Math.clamp(whole(0), 0, canvas.height() - rows),
                        Math.clamp(whole(1), 0, canvas.width() - columns), rows, columns, fill(arguments, k));
            }
            case RESIZE -> resize(k, setting);
            case BLUR -> GaussianBlur.smooth(canvas, (int) amount, within(real(0), 1 / LARGE, LARGE));
            case MIX -> mix(setting);
            case NOISE -> GaussianNoise.add(canvas, within(real(0), 0, MOST_NOISE), within(real(1), 0, MOST_KEY));
            case WARP -> warp(setting, fill(arguments, k));
            case POLICY -> policy(octet(0), real(row + (int) amount, 0), interpolation(setting));
            case JITTER -> jitter(setting, false);
            case JITTER_REST -> jitter(setting, true);
            case TONE -> {
                if (setting == ToneCurve.Kind.GAMMA.ordinal()) {
                    ToneCurve.applyPower(canvas, within(real(0), 0, LARGE));
                } else {
                    ToneCurve.applyLine(canvas, real(0), real(1));
                }
            }
            default -> {
                if (octet(0) != 0) {
                    PixelOp.change(kind, amount, canvas);
                }
            }
        }
    }

    private void crop(int k, int top, int left) {
        int border = (int) amount(arguments, k);
        int rows = height(arguments, k + 1);
        int columns = width(arguments, k + 1);
        canvas.crop(Math.clamp(top, 0, canvas.height() + 2 * border - rows),
                Math.clamp(left, 0, canvas.width() + 2 * border - columns), rows, columns, border,
                MODES.get(setting(arguments, k)), fill(arguments, k));
    }

    private void resize(int k, int setting) {
        if ((setting & 1) != 0) {
            int rows = Math.clamp(whole(2), 1, canvas.height());
            int columns = Math.clamp(whole(3), 1, canvas.width());
            canvas.crop(Math.clamp(whole(0), 0, canvas.height() - rows),
                    Math.clamp(whole(1), 0, canvas.width() - columns), rows, columns, Padding.NONE);
        }
        canvas.resize(height(arguments, k + 1), width(arguments, k + 1), Resize.weights(FILTERS.get(setting >> 1)));
    }

    private void mix(int chains) {
        int rows = canvas.height();
        int columns = canvas.width();
        int channels = canvas.channels();
        long batch = PassArguments.BATCH.get(arguments);
        AugMix.begin(canvas);
        AugMix.add(canvas, single(0));
        for (int chain = 0; chain < chains; chain++) {
            canvas.load(PassArguments.MORE.get(arguments) + (chain * batch + image) * rows * columns * channels, rows,
                    columns, channels);
            AugMix.add(canvas, single(1 + chain));
        }
        AugMix.end(canvas);
    }

    private void warp(int setting, int fill) {
        Interpolation interpolation = interpolation(setting);
        if ((setting & 4) != 0) {
            for (int i = 0; i < CORNER_MOVES; i++) {
                moves[i] = whole(i);
            }
            Perspective.warp(canvas, moves, 0, interpolation, fill);
        } else if ((setting & 2) != 0) {
            Affine.warp(canvas, real(0), real(1), real(2), real(3), real(4), real(5), interpolation, fill);
        } else {
            Affine.warp(canvas, -real(0), 0, 0, 1, 0, 0, interpolation, fill);
        }
    }

    private void policy(int operation, double size, Interpolation interpolation) {
        if (operation < Operation.ALL.size()) {
            Operation known = Operation.ALL.get(operation);
            Policy.apply(known, known == Operation.POSTERIZE ? Math.clamp(size, 0, 8) : size, canvas, interpolation);
        }
    }

    /** Applies the changes before the contrast, or the contrast and the changes after it. */
    private void jitter(int setting, boolean isRest) {
        boolean begun = !isRest;
        boolean ends = false;
        for (int i = 0; i < ColorJitter.CHANGES && !ends; i++) {
            int change = octet(i);
            if (change >= ColorJitter.CHANGES || (setting >> change & 1) == 0) {
                continue;
            }
            boolean isContrast = change == ColorJitter.CONTRAST;
            ends = isContrast && !isRest;
            if (isContrast ? !begun : begun) {
                double by = real(at + ColorJitter.CHANGES, change);
                ColorJitter.add(change, change == ColorJitter.HUE ? within(by, -1, 1) : by, canvas);
                begun = true;
            }
        }
        ColorJitter.finish(canvas);
    }

    /** Clamps a number to a range; NaN becomes its lower end. */
    private static double within(double x, double low, double high) {
        return x >= low ? Math.min(x, high) : low;
    }

    private static Interpolation interpolation(int setting) {
        return (setting & 1) != 0 ? Interpolation.BILINEAR : Interpolation.NEAREST;
    }

    private int octet(int i) {
        return (int) RawMemory.bits(Byte.BYTES, at, i);
    }

    private int whole(int i) {
        return RawMemory.getInt(at + (long) i * Integer.BYTES);
    }

    private float single(int i) {
        return Float.intBitsToFloat(whole(i));
    }

    private double real(int i) {
        return real(at, i);
    }

    /** Returns the i-th f64. The first one starts at the next multiple of 8 in the row. */
    private double real(long from, int i) {
        return Double.longBitsToDouble(RawMemory.bits(Double.BYTES, row + (from - row + 7 & ~7), i));
    }
}
