// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.pass;

import static io.penstock.augment.pass.PassArguments.amount;
import static io.penstock.augment.pass.PassArguments.fill;
import static io.penstock.augment.pass.PassArguments.height;
import static io.penstock.augment.pass.PassArguments.record;
import static io.penstock.augment.pass.PassArguments.setting;
import static io.penstock.augment.pass.PassArguments.width;

import io.penstock.augment.pixels.Canvas;
import io.penstock.augment.pixels.ColorChanges;
import io.penstock.augment.step.Affine;
import io.penstock.augment.step.ColorJitter;
import io.penstock.augment.step.PixelOp;
import io.penstock.augment.step.Policy;
import io.penstock.augment.step.Policy.Operation;
import io.penstock.augment.value.Interpolation;
import io.penstock.augment.value.Padding;
import io.penstock.device.internal.RawMemory;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The kernel of a pass on the CPU: the operations that workers apply, one after the other. A parameter that is out of
 * range is moved into it, as a kernel does, which cannot refuse it.
 */
final class PassTwin {

    private static final ThreadLocal<Canvas> OF_THREAD = ThreadLocal.withInitial(Canvas::new);

    private static final List<Padding.Mode> MODES = List.of(Padding.Mode.values());

    private PassTwin() {
    }

    static void run(MemorySegment arguments) {
        Canvas canvas = OF_THREAD.get();
        int count = (int) PassArguments.COUNT.get(arguments);
        int channels = (int) PassArguments.CHANNELS.get(arguments);
        long sourceBytes = (long) height(arguments, 0) * width(arguments, 0) * channels;
        long targetBytes = PassArguments.HEIGHT.get(arguments) * PassArguments.WIDTH.get(arguments) * channels;
        for (long image = 0; image < PassArguments.BATCH.get(arguments); image++) {
            canvas.load(PassArguments.SOURCE.get(arguments) + image * sourceBytes, height(arguments, 0),
                    width(arguments, 0), channels);
            long row = PassArguments.TABLE.get(arguments) + image * PassArguments.ROW_BYTES.get(arguments);
            for (int k = 0; k < count; k++) {
                apply(arguments, k, row, canvas);
            }
            canvas.store(PassArguments.TARGET.get(arguments) + image * targetBytes);
        }
    }

    private static void apply(MemorySegment arguments, int k, long row, Canvas canvas) {
        int record = record(arguments, k);
        int setting = setting(arguments, k);
        switch (PassArguments.kind(arguments, k)) {
            case CROP -> crop(arguments, k, whole(row + record, 0), whole(row + record, 1), canvas);
            case PAD -> crop(arguments, k, 0, 0, canvas);
            case ERASE -> {
                int rows = Math.clamp(whole(row + record, 2), 0, canvas.height());
                int columns = Math.clamp(whole(row + record, 3), 0, canvas.width());
                canvas.fill(Math.clamp(whole(row + record, 0), 0, canvas.height() - rows),
                        Math.clamp(whole(row + record, 1), 0, canvas.width() - columns), rows, columns,
                        fill(arguments, k));
            }
            case RESIZE -> {
                if (setting != 0) {
                    int rows = Math.clamp(whole(row + record, 2), 1, canvas.height());
                    int columns = Math.clamp(whole(row + record, 3), 1, canvas.width());
                    canvas.crop(Math.clamp(whole(row + record, 0), 0, canvas.height() - rows),
                            Math.clamp(whole(row + record, 1), 0, canvas.width() - columns), rows, columns,
                            Padding.NONE);
                }
                canvas.resize(height(arguments, k + 1), width(arguments, k + 1));
            }
            case WARP -> warp(row, record, setting, fill(arguments, k), canvas);
            case POLICY -> policy(octet(row + record), real(row, record + 1, 0), interpolation(setting), canvas);
            case JITTER -> jitter(row, record, setting, false, canvas);
            case JITTER_REST -> jitter(row, record, setting, true, canvas);
            default -> {
                if (octet(row + record) != 0) {
                    change(PassArguments.kind(arguments, k), amount(arguments, k), canvas);
                }
            }
        }
    }

    private static void crop(MemorySegment arguments, int k, int top, int left, Canvas canvas) {
        int border = (int) amount(arguments, k);
        int rows = height(arguments, k + 1);
        int columns = width(arguments, k + 1);
        canvas.crop(Math.clamp(top, 0, canvas.height() + 2 * border - rows),
                Math.clamp(left, 0, canvas.width() + 2 * border - columns), rows, columns, border,
                MODES.get(setting(arguments, k)), fill(arguments, k));
    }

    private static void warp(long row, int record, int setting, int fill, Canvas canvas) {
        if ((setting & 2) == 0) {
            Affine.warp(canvas, -real(row, record, 0), 0, 0, 1, 0, 0, interpolation(setting), fill);
        } else {
            Affine.warp(canvas, real(row, record, 0), real(row, record, 1), real(row, record, 2), real(row, record, 3),
                    real(row, record, 4), real(row, record, 5), interpolation(setting), fill);
        }
    }

    private static void policy(int operation, double size, Interpolation interpolation, Canvas canvas) {
        if (operation < Operation.ALL.size()) {
            Operation known = Operation.ALL.get(operation);
            Policy.apply(known, known == Operation.POSTERIZE ? Math.clamp(size, 0, 8) : size, canvas, interpolation);
        }
    }

    /** Applies the changes before the contrast, or the contrast and those behind it. */
    private static void jitter(long row, int record, int setting, boolean isRest, Canvas canvas) {
        boolean begun = !isRest;
        boolean ends = false;
        for (int i = 0; i < ColorJitter.CHANGES && !ends; i++) {
            int change = octet(row + record + i);
            if (change >= ColorJitter.CHANGES || (setting >> change & 1) == 0) {
                continue;
            }
            boolean isContrast = change == ColorJitter.CONTRAST;
            ends = isContrast && !isRest;
            if (isContrast ? !begun : begun) {
                double by = real(row, record + ColorJitter.CHANGES, change);
                ColorJitter.add(change, change == ColorJitter.HUE ? turn(by) : by, canvas);
                begun = true;
            }
        }
        ColorJitter.finish(canvas);
    }

    /** Between -1 and 1. */
    private static double turn(double by) {
        return by >= -1 ? Math.min(by, 1) : -1;
    }

    private static void change(PixelOp.Kind kind, float amount, Canvas canvas) {
        switch (kind) {
            case FLIP_HORIZONTALLY -> canvas.flipHorizontally();
            case FLIP_VERTICALLY -> canvas.flipVertically();
            case SHARPNESS -> ColorChanges.sharpen(canvas, amount);
            case GRAYSCALE -> ColorChanges.grayscale(canvas);
            case POSTERIZE -> ColorChanges.posterize(canvas, (int) amount);
            case SOLARIZE -> ColorChanges.solarize(canvas, amount);
            case AUTOCONTRAST -> ColorChanges.autocontrast(canvas);
            case EQUALIZE -> ColorChanges.equalize(canvas);
            default -> throw new IllegalStateException(kind + " has parameters of its own");
        }
    }

    private static Interpolation interpolation(int setting) {
        return (setting & 1) != 0 ? Interpolation.BILINEAR : Interpolation.NEAREST;
    }

    private static int octet(long address) {
        return (int) RawMemory.bits(Byte.BYTES, address, 0);
    }

    private static int whole(long parameters, int i) {
        return RawMemory.getInt(parameters + (long) i * Integer.BYTES);
    }

    /** The i-th f64; the first one starts at the next multiple of 8. */
    private static double real(long row, int offset, int i) {
        return Double.longBitsToDouble(RawMemory.bits(Double.BYTES, row + (offset + 7 & ~7), i));
    }
}
