// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.internal.RawMemory;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;

/**
 * The image kernel on the CPU. Not thread-safe.
 *
 * <p>Pixels are copied into a small array in target order, normalized into another array, and copied out: bulk copies
 * at both ends, and between them array loops that the JIT vectorizes. It does not vectorize loops from memory to
 * memory, which might overlap.
 */
final class ImageTwin {
    /**
     * Pixels copied in at a time: many, because the first ones of scattered images arrive late, but few enough for the
     * L1 cache.
     */
    private static final int PIECE = 6144;
    /**
     * Results copied out at a time: the processor stores them while it computes the next. A multiple of every channel
     * count, like {@link #PIECE}.
     */
    private static final int BLOCK = PIECE / 8;

    private static final ThreadLocal<ImageTwin> OF_THREAD = ThreadLocal.withInitial(ImageTwin::new);

    /** In source order; pixels of all channels if they are interleaved. */
    private final byte[] stored = new byte[PIECE * ImageTransform.MAX_CHANNELS];
    /** In target order. */
    private final byte[] pixels = new byte[PIECE];
    private final float[] floats = new float[BLOCK];
    private final HalfFloats halves = new HalfFloats(BLOCK);
    /** For each element of a block, over all channels. */
    private final float[] means = new float[BLOCK];
    private final float[] deviations = new float[BLOCK];

    private final MemorySegment arguments = ImageTransform.KERNEL.newArguments();
    private int channels;
    private DType targetType;
    private boolean sourceLast;
    private boolean targetLast;
    private long imagePixels;

    @SuppressWarnings("NullAway.Init") // prepare() sets the rest before each use
    private ImageTwin() {
    }

    /** Runs the kernel. */
    static void run(MemorySegment now) {
        ImageTwin twin = OF_THREAD.get();
        twin.prepare(now);
        long sources = ImageArguments.SOURCE.get(now);
        long targets = ImageArguments.TARGET.get(now);
        long sourceBytes = twin.channels * twin.imagePixels;
        long targetBytes = sourceBytes * twin.targetType.byteSize();
        for (long image = 0; image < ImageArguments.BATCH.get(now); image++) {
            twin.transform(sources + image * sourceBytes, targets + image * targetBytes);
        }
    }

    /** Transforms one image, ignoring the batch in the arguments. */
    static void run(MemorySegment now, long source, long target) {
        ImageTwin twin = OF_THREAD.get();
        twin.prepare(now);
        twin.transform(source, target);
    }

    private void prepare(MemorySegment now) {
        boolean same = ImageArguments.normalizeAlike(arguments, now);
        MemorySegment.copy(now, 0, arguments, 0, arguments.byteSize());
        channels = (int) ImageArguments.CHANNELS.get(now);
        imagePixels = ImageArguments.HEIGHT.get(now) * ImageArguments.WIDTH.get(now);
        targetType = ImageArguments.TARGET_TYPE.dtype(now);
        sourceLast = ImageArguments.SOURCE_CHANNELS_LAST.get(now) != 0 && channels > 1;
        targetLast = ImageArguments.TARGET_CHANNELS_LAST.get(now) != 0 && channels > 1;
        for (int i = 0; i < BLOCK && targetLast && !same; i++) {
            means[i] = ImageArguments.mean(now, i % channels);
            deviations[i] = ImageArguments.deviation(now, i % channels);
        }
    }

    private void transform(long source, long target) {
        if (targetLast) {
            transformPlane(source, 0, target);
        } else {
            long planeBytes = imagePixels * targetType.byteSize();
            for (int c = 0; c < channels; c++) {
                transformPlane(source, c, target + c * planeBytes);
            }
        }
    }

    /** Transforms a plane of the target: one channel's, or the only one of all channels. */
    private void transformPlane(long source, int channel, long target) {
        int most = targetLast ? PIECE / channels : PIECE;
        long to = target;
        for (long first = 0; first < imagePixels; first += most) {
            int count = (int) Math.min(imagePixels - first, most);
            bring(source, first, channel, count);
            to += normalize(count, channel, to);
        }
    }

    /** Copies pixels in target order. */
    private void bring(long source, long first, int channel, int count) {
        if (sourceLast == targetLast) {
            long from = sourceLast ? source + first * channels : source + channel * imagePixels + first;
            RawMemory.get(from, pixels, 0, sourceLast ? count * channels : count);
        } else if (sourceLast) {
            RawMemory.get(source + first * channels, stored, 0, count * channels);
            if (channels == 3) {                            // what decoders give: a constant for the compiler
                move(stored, channel, 3, pixels, 0, 1, count);
            } else {
                move(stored, channel, channels, pixels, 0, 1, count);
            }
        } else {
            for (int c = 0; c < channels; c++) {
                RawMemory.get(source + c * imagePixels + first, stored, 0, count);
                if (channels == 3) {
                    move(stored, 0, 1, pixels, c, 3, count);
                } else {
                    move(stored, 0, 1, pixels, c, channels, count);
                }
            }
        }
    }

    /** Four at a time: the JIT cannot know that the arrays differ, so each load would wait for the last store. */
    private static void move(byte[] in, int from, int fromStep, byte[] out, int to, int toStep, int count) {
        int i = 0;
        for (; i <= count - 4; i += 4) {
            int at = from + fromStep * i;
            byte a = in[at];
            byte b = in[at + fromStep];
            byte c = in[at + 2 * fromStep];
            byte d = in[at + 3 * fromStep];
            at = to + toStep * i;
            out[at] = a;
            out[at + toStep] = b;
            out[at + 2 * toStep] = c;
            out[at + 3 * toStep] = d;
        }
        for (; i < count; i++) {
            out[to + toStep * i] = in[from + fromStep * i];
        }
    }

    /** Normalizes pixels and returns their byte size in the target. */
    private long normalize(int pixelCount, int channel, long target) {
        int count = targetLast ? pixelCount * channels : pixelCount;
        int elementBytes = targetType.byteSize();
        subtract128(pixels, count);
        for (int first = 0; first < count; first += BLOCK) {
            int block = Math.min(BLOCK, count - first);
            if (targetLast) {
                normalize(pixels, first, block, means, deviations, floats);
            } else {
                normalize(pixels, first, block, ImageArguments.mean(arguments, channel),
                        ImageArguments.deviation(arguments, channel), floats);
            }
            put(block, target + (long) first * elementBytes);
        }
        return (long) count * elementBytes;
    }

    private void put(int count, long target) {
        switch (targetType) {
            case BF16 -> halves.putBf16(floats, count, target);
            case F16 -> halves.putF16(floats, count, target);
            default -> RawMemory.set(floats, 0, count, target);
        }
    }

    /** The JIT vectorizes only the conversion of signed bytes. */
    private static void subtract128(byte[] pixels, int count) {
        for (int i = 0; i < count; i++) {
            pixels[i] = (byte) (pixels[i] ^ 0x80);
        }
    }

    private static void normalize(byte[] less128, int first, int count, float mean, float deviation, float[] out) {
        for (int i = 0; i < count; i++) {
            out[i] = ((less128[first + i] + 128f) / 255f - mean) / deviation;
        }
    }

    private static void normalize(byte[] less128, int first, int count, float[] mean, float[] deviation, float[] out) {
        for (int i = 0; i < count; i++) {
            out[i] = ((less128[first + i] + 128f) / 255f - mean[i]) / deviation[i];
        }
    }
}
