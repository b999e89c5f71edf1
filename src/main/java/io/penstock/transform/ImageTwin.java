package io.penstock.transform;

import io.penstock.memory.DType;
import java.util.Arrays;

/**
 * The images' kernel on the CPU, for one thread at a time.
 *
 * <p>Pixels pass through arrays small enough to stay in the first cache, with bulk copies before and behind: the JIT
 * vectorises a loop from a {@code byte[]} to a {@code float[]}, and none from memory to memory, which might overlap.
 *
 * <ul>
 *   <li>Where f32 is written and channels keep their places, the arithmetic is done on a vector of pixels at a time.
 *   <li>Anything else is looked up pixel by pixel: a byte has 256 values, and so a channel has 256 results.
 * </ul>
 */
final class ImageTwin {
    /** Elements that are worked on at a time: a multiple of any number of channels. */
    private static final int PIECE = 1536;
    private static final int PIXEL_VALUES = 256;
    private static final int CONSTANTS = ImageTransform.WORDS - ImageTransform.TARGET_TYPE;

    private static final ThreadLocal<ImageTwin> OF_THREAD = ThreadLocal.withInitial(ImageTwin::new);

    private final byte[] pixels = new byte[PIECE];
    private final float[] floats = new float[PIECE];
    private final short[] halves = new short[PIECE];

    /** Of each element of a piece whose channels lie beside each other. */
    private final float[] means = new float[PIECE];
    private final float[] deviations = new float[PIECE];
    /** Of each value of each channel. */
    private final float[] floatValues = new float[ImageTransform.MAX_CHANNELS * PIXEL_VALUES];
    private final short[] halfValues = new short[ImageTransform.MAX_CHANNELS * PIXEL_VALUES];

    private int channels;
    private DType targetType;
    private boolean sourceLast;
    private boolean targetLast;
    /** What the tables are made of: the words from the target's dtype on, and the number of channels. */
    private final long[] tabulated = new long[CONSTANTS + 1];

    private ImageTwin() {
    }

    /** Runs the kernel. */
    static void run(long[] w) {
        ImageTwin twin = OF_THREAD.get();
        twin.prepare(w);
        long crops = w[ImageTransform.CROPS];
        long sourceBytes = twin.channels * w[ImageTransform.HEIGHT] * w[ImageTransform.WIDTH];
        long targetBytes = twin.channels * w[ImageTransform.CROP_HEIGHT] * w[ImageTransform.CROP_WIDTH]
                * twin.targetType.byteSize();
        for (long image = 0; image < w[ImageTransform.BATCH]; image++) {
            long source = w[ImageTransform.SOURCE] + image * sourceBytes;
            long target = w[ImageTransform.TARGET] + image * targetBytes;
            if (crops == 0) {
                twin.cut(w, source, target, w[ImageTransform.CROP_Y], w[ImageTransform.CROP_X], false);
            } else {
                long crop = crops + image * RandomCrop.PARAMETER_BYTES;
                twin.cut(w, source, target, RawMemory.getInt(crop), RawMemory.getInt(crop + 4),
                        RawMemory.getInt(crop + 8) != 0);
            }
        }
    }

    /** One image; of the words, those that say where batches are do not count. */
    static void run(long[] w, long source, long target, long top, long left, boolean flip) {
        ImageTwin twin = OF_THREAD.get();
        twin.prepare(w);
        twin.cut(w, source, target, top, left, flip);
    }

    private void prepare(long[] w) {
        channels = (int) w[ImageTransform.CHANNELS];
        targetType = RawMemory.dtype(w[ImageTransform.TARGET_TYPE]);
        sourceLast = w[ImageTransform.SOURCE_CHANNELS_LAST] != 0 || channels == 1;
        targetLast = w[ImageTransform.TARGET_CHANNELS_LAST] != 0 || channels == 1;
        if (tabulated[CONSTANTS] != channels || !Arrays.equals(tabulated, 0, CONSTANTS, w, ImageTransform.TARGET_TYPE,
                ImageTransform.WORDS)) {
            System.arraycopy(w, ImageTransform.TARGET_TYPE, tabulated, 0, CONSTANTS);
            tabulated[CONSTANTS] = channels;
            tabulate(w);
        }
    }

    private void tabulate(long[] w) {
        for (int c = 0; c < channels; c++) {
            float mean = ImageTransform.mean(w, c);
            float deviation = ImageTransform.deviation(w, c);
            for (int i = c; i < PIECE; i += channels) {
                means[i] = mean;
                deviations[i] = deviation;
            }
            for (int pixel = 0; pixel < PIXEL_VALUES; pixel++) {
                float value = (pixel / 255f - mean) / deviation;
                floatValues[c * PIXEL_VALUES + pixel] = value;
                halfValues[c * PIXEL_VALUES + pixel] =
                        targetType == DType.BF16 ? FloatFormat.bf16(value) : FloatFormat.f16(value);
            }
        }
    }

    private void cut(long[] w, long image, long target, long top, long left, boolean flip) {
        long imageWidth = w[ImageTransform.WIDTH];
        long planePixels = w[ImageTransform.HEIGHT] * imageWidth;
        long rows = w[ImageTransform.CROP_HEIGHT];
        long width = w[ImageTransform.CROP_WIDTH];
        long first = Math.clamp(top, 0, w[ImageTransform.HEIGHT] - rows) * imageWidth
                + Math.clamp(left, 0, imageWidth - width);
        if (width == imageWidth && !flip) {                 // rows without a gap are one row
            width *= rows;
            rows = 1;
        }
        if (targetType != DType.F32 || sourceLast != targetLast || flip && sourceLast && channels > 1) {
            lookUp(image, first, imageWidth, planePixels, target, rows, width, flip);
        } else if (sourceLast && channels > 1) {
            calculate(image + first * channels, imageWidth * channels, target, rows, width * channels, false, -1, w);
        } else {
            for (int c = 0; c < channels; c++) {
                calculate(image + c * planePixels + first, imageWidth, target + c * rows * width * Float.BYTES, rows,
                        width, flip, c, w);
            }
        }
    }

    /** Rows of one channel, or where {@code channel} is -1 of all, from bytes to as many f32. */
    private void calculate(long source, long strideBytes, long target, long rows, long rowBytes, boolean flip,
            int channel, long[] w) {
        long to = target;
        int held = 0;
        for (long row = 0; row < rows; row++) {
            long from = source + row * strideBytes;
            for (long x = 0; x < rowBytes;) {
                int part = (int) Math.min(rowBytes - x, PIECE - held);
                if (flip) {
                    RawMemory.getReversed(from + rowBytes - x - part, pixels, held, part);
                } else {
                    RawMemory.get(from + x, pixels, held, part);
                }
                held += part;
                x += part;
                if (held == PIECE) {
                    to += calculatePiece(held, to, channel, w);
                    held = 0;
                }
            }
        }
        calculatePiece(held, to, channel, w);
    }

    private long calculatePiece(int count, long target, int channel, long[] w) {
        makeSigned(pixels, count);
        if (channel < 0) {
            normalise(pixels, count, means, deviations, floats);
        } else {
            normalise(pixels, count, ImageTransform.mean(w, channel), ImageTransform.deviation(w, channel), floats);
        }
        RawMemory.set(floats, 0, count, target);
        return (long) count * Float.BYTES;
    }

    /** Pixels less 128: of bytes, the JIT vectorises the conversion of signed ones only. */
    private static void makeSigned(byte[] pixels, int count) {
        for (int i = 0; i < count; i++) {
            pixels[i] = (byte) (pixels[i] ^ 0x80);
        }
    }

    private static void normalise(byte[] signed, int count, float mean, float deviation, float[] out) {
        for (int i = 0; i < count; i++) {
            out[i] = ((signed[i] + 128f) / 255f - mean) / deviation;
        }
    }

    private static void normalise(byte[] signed, int count, float[] mean, float[] deviation, float[] out) {
        for (int i = 0; i < count; i++) {
            out[i] = ((signed[i] + 128f) / 255f - mean[i]) / deviation[i];
        }
    }

    /** All channels of a piece of a row at a time; those of a layout with planes lie behind each other in the arrays. */
    private void lookUp(long image, long first, long imageWidth, long planePixels, long target, long rows, long width,
            boolean flip) {
        int most = PIECE / channels;
        int elementBytes = targetType.byteSize();
        for (long row = 0; row < rows; row++) {
            for (long x = 0; x < width; x += most) {
                int count = (int) Math.min(most, width - x);
                long from = first + row * imageWidth + (flip ? width - x - count : x);
                long to = row * width + x;
                if (sourceLast) {
                    RawMemory.get(image + from * channels, pixels, 0, count * channels);
                } else {
                    for (int c = 0; c < channels; c++) {
                        RawMemory.get(image + c * planePixels + from, pixels, c * most, count);
                    }
                }
                lookUpPiece(count, most, flip);
                if (targetLast) {
                    put(0, count * channels, target + to * channels * elementBytes);
                } else {
                    for (int c = 0; c < channels; c++) {
                        put(c * most, count, target + (c * rows * width + to) * elementBytes);
                    }
                }
            }
        }
    }

    private void put(int first, int count, long target) {
        if (targetType == DType.F32) {
            RawMemory.set(floats, first, count, target);
        } else {
            RawMemory.set(halves, first, count, target);
        }
    }

    private void lookUpPiece(int count, int plane, boolean flip) {
        int sourceStep = sourceLast ? channels : 1;
        int targetStep = targetLast ? channels : 1;
        for (int c = 0; c < channels; c++) {
            int from = (sourceLast ? c : c * plane) + (flip ? (count - 1) * sourceStep : 0);
            int to = targetLast ? c : c * plane;
            int step = flip ? -sourceStep : sourceStep;
            if (targetType == DType.F32) {
                lookUp(pixels, from, step, floatValues, c * PIXEL_VALUES, floats, to, targetStep, count);
            } else {
                lookUp(pixels, from, step, halfValues, c * PIXEL_VALUES, halves, to, targetStep, count);
            }
        }
    }

    private static void lookUp(byte[] pixels, int from, int sourceStep, float[] values, int base, float[] out, int to,
            int targetStep, int count) {
        for (int i = 0; i < count; i++) {
            out[to + i * targetStep] = values[base + (pixels[from + i * sourceStep] & 0xFF)];
        }
    }

    private static void lookUp(byte[] pixels, int from, int sourceStep, short[] values, int base, short[] out, int to,
            int targetStep, int count) {
        for (int i = 0; i < count; i++) {
            out[to + i * targetStep] = values[base + (pixels[from + i * sourceStep] & 0xFF)];
        }
    }
}
