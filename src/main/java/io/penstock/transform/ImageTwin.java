// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.internal.RawMemory;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

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

    private static final VarHandle EIGHT_BYTES =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

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
    private long height;
    private long width;
    private long cropHeight;
    private long cropWidth;

    @SuppressWarnings("NullAway.Init") // prepare() sets the rest before each use
    /** Runs the kernel. */
    static void run(MemorySegment now) {
        ImageTwin twin = OF_THREAD.get();
        twin.prepare(now);
        long sources = ImageArguments.SOURCE.get(now);
        long targets = ImageArguments.TARGET.get(now);
        long crops = ImageArguments.CROPS.get(now);
        long sourceBytes = twin.channels * twin.height * twin.width;
        long targetBytes = twin.channels * twin.cropHeight * twin.cropWidth * twin.targetType.byteSize();
        for (long image = 0; image < ImageArguments.BATCH.get(now); image++) {
            long source = sources + image * sourceBytes;
            long target = targets + image * targetBytes;
            if (crops == 0) {
                twin.transform(source, target, ImageArguments.CROP_Y.get(now), ImageArguments.CROP_X.get(now), false);
            } else {
                long crop = crops + image * RandomCrop.PARAMETER_BYTES;
                twin.transform(source, target, RawMemory.getInt(crop), RawMemory.getInt(crop + 4),
                        RawMemory.getInt(crop + 8) != 0);
            }
        }
    }

    /** Transforms one image, ignoring the batch and crops in the arguments. */
    static void run(MemorySegment now, long source, long target, long top, long left, boolean flip) {
        ImageTwin twin = OF_THREAD.get();
        twin.prepare(now);
        twin.transform(source, target, top, left, flip);
    }

    private void prepare(MemorySegment now) {
        boolean same = ImageArguments.normalizeAlike(arguments, now);
        MemorySegment.copy(now, 0, arguments, 0, arguments.byteSize());
        channels = (int) ImageArguments.CHANNELS.get(now);
        height = ImageArguments.HEIGHT.get(now);
        width = ImageArguments.WIDTH.get(now);
        cropHeight = ImageArguments.CROP_HEIGHT.get(now);
        cropWidth = ImageArguments.CROP_WIDTH.get(now);
        targetType = ImageArguments.TARGET_TYPE.dtype(now);
        sourceLast = ImageArguments.SOURCE_CHANNELS_LAST.get(now) != 0 && channels > 1;
        targetLast = ImageArguments.TARGET_CHANNELS_LAST.get(now) != 0 && channels > 1;
        for (int i = 0; i < BLOCK && targetLast && !same; i++) {
            means[i] = ImageArguments.mean(now, i % channels);
            deviations[i] = ImageArguments.deviation(now, i % channels);
        }
    }

    private void transform(long source, long target, long top, long left, boolean flip) {
        long rows = cropHeight;
        long rowPixels = cropWidth;
        long first = Math.clamp(top, 0, height - rows) * width + Math.clamp(left, 0, width - rowPixels);
        if (rowPixels == width && !flip) {                 // rows without gaps are one row
            rowPixels *= rows;
            rows = 1;
        }
        if (targetLast) {
            transformPlane(source, first, 0, target, rows, rowPixels, flip);
        } else {
            long planeBytes = rows * rowPixels * targetType.byteSize();
            for (int c = 0; c < channels; c++) {
                transformPlane(source, first, c, target + c * planeBytes, rows, rowPixels, flip);
            }
        }
    }

    /** Transforms a plane of the target: one channel's, or the only one of all channels. */
    private void transformPlane(long source, long first, int channel, long target, long rows, long rowPixels,
            boolean flip) {
        int most = targetLast ? PIECE / channels : PIECE;
        long to = target;
        int held = 0;
        for (long row = 0; row < rows; row++) {
            long from = first + row * width;
            for (long x = 0; x < rowPixels;) {
                int part = (int) Math.min(rowPixels - x, most - held);
                bring(source, flip ? from + rowPixels - x - part : from + x, channel, held, part, flip);
                x += part;
                held += part;
                if (held == most) {
                    to += normalize(held, channel, to);
                    held = 0;
                }
            }
        }
        normalize(held, channel, to);
    }

    /** Copies part of a row to its place among the pixels, in target order. */
    private void bring(long source, long from, int channel, int held, int part, boolean flip) {
        if (sourceLast && targetLast) {
            bringPixels(source + from * channels, held * channels, part, flip);
        } else if (sourceLast) {
            RawMemory.get(source + from * channels, stored, 0, part * channels);
            if (channels == 3) {                            // what decoders give: a constant for the compiler
                move(stored, channel, 3, pixels, held, 1, part);
            } else {
                move(stored, channel, channels, pixels, held, 1, part);
            }
            reverse(pixels, held, flip ? part : 0);
        } else if (targetLast) {
            for (int c = 0; c < channels; c++) {
                RawMemory.get(plane(source, c) + from, stored, 0, part);
                reverse(stored, 0, flip ? part : 0);
                if (channels == 3) {
                    move(stored, 0, 1, pixels, held * 3 + c, 3, part);
                } else {
                    move(stored, 0, 1, pixels, held * channels + c, channels, part);
                }
            }
        } else {
            RawMemory.get(plane(source, channel) + from, pixels, held, part);
            reverse(pixels, held, flip ? part : 0);
        }
    }

    private void bringPixels(long address, int held, int part, boolean flip) {
        if (!flip) {
            RawMemory.get(address, pixels, held, part * channels);
            return;
        }
        RawMemory.get(address, stored, 0, part * channels);
        for (int c = 0; c < channels; c++) {
            move(stored, (part - 1) * channels + c, -channels, pixels, held + c, channels, part);
        }
    }

    /** Where a channel's plane starts, or the image if the channels are interleaved. */
    private long plane(long source, int channel) {
        return source + channel * height * width;
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

    /** In place, from both ends. */
    private static void reverse(byte[] bytes, int first, int count) {
        int low = first;
        int high = first + count;
        for (; high - low >= 2 * Long.BYTES; low += Long.BYTES) {
            high -= Long.BYTES;
            long start = (long) EIGHT_BYTES.get(bytes, low);
            EIGHT_BYTES.set(bytes, low, Long.reverseBytes((long) EIGHT_BYTES.get(bytes, high)));
            EIGHT_BYTES.set(bytes, high, Long.reverseBytes(start));
        }
        for (high--; low < high; low++, high--) {
            byte start = bytes[low];
            bytes[low] = bytes[high];
            bytes[high] = start;
        }
    }

    /** Normalizes the held pixels and returns their byte size in the target. */
    private long normalize(int held, int channel, long target) {
        int count = targetLast ? held * channels : held;
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
