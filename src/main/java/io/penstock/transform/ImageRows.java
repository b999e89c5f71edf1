// SPDX-License-Identifier: Apache-2.0
package io.penstock.transform;

import io.penstock.device.internal.RawMemory;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Writes the rows of an image as an {@link ImageTransform} does: normalized, in its dtype and layout.
 * For one thread.
 */
public final class ImageRows {

    private final MemorySegment arguments;
    private final int channels;
    private final int width;
    private final long height;
    private final long planeBytes;
    private final long rowBytes;
    private final boolean channelsLast;
    private final DType dtype;
    private final float[] floats;
    private final HalfFloats halves;
    private long target;

    ImageRows(MemorySegment arguments) {
        this.arguments = arguments;
        channels = (int) ImageArguments.CHANNELS.get(arguments);
        width = Math.toIntExact(ImageArguments.WIDTH.get(arguments));
        dtype = ImageArguments.TARGET_TYPE.dtype(arguments);
        channelsLast = channels > 1 && ImageArguments.TARGET_CHANNELS_LAST.get(arguments) != 0;
        rowBytes = (long) width * dtype.byteSize() * (channelsLast ? channels : 1);
        height = ImageArguments.HEIGHT.get(arguments);
        planeBytes = rowBytes * height;
        floats = new float[Math.multiplyExact(width, channelsLast ? channels : 1) + 1 & ~1];
        halves = new HalfFloats(floats.length);
    }

    /**
     * Starts an image.
     *
     * @param out the native memory to write, which must stay alive until the last row is written
     * @param offset the first byte to write
     * @param bytes the bytes of the image
     * @throws IllegalArgumentException if the memory is not native, or the image has another size
     * @throws IndexOutOfBoundsException if the memory is too small
     */
    public void start(MemorySegment out, long offset, long bytes) {
        long expected = channelsLast ? planeBytes : planeBytes * channels;
        if (!out.isNative() || bytes != expected) {
            throw new IllegalArgumentException(
                    "found " + bytes + " bytes of " + out + ", expected " + expected + " bytes of native memory");
        }
        Objects.checkFromIndexSize(offset, bytes, out.byteSize());
        target = out.address() + offset;
    }

    /**
     * Writes a row.
     *
     * @param row its number, from 0, below the image's height
     * @param of the values, 0 to 255, of each channel: an array for each, at least as long as the row
     * @throws IndexOutOfBoundsException if there is no such row, or an array is too short
     */
    public void put(int row, int[][] of) {
        Objects.checkIndex(row, height);
        for (int c = 0; c < channels; c++) {
            float mean = ImageArguments.mean(arguments, c);
            float deviation = ImageArguments.deviation(arguments, c);
            if (channelsLast) {
                normalize(of[c], width, mean, deviation, floats, c, channels);
            } else {
                normalize(of[c], width, mean, deviation, floats);
                store(width, target + c * planeBytes + row * rowBytes);
            }
        }
        if (channelsLast) {
            store(width * channels, target + row * rowBytes);
        }
    }

    private void store(int count, long to) {
        switch (dtype) {
            case BF16 -> halves.putBf16(floats, count, to);
            case F16 -> halves.putF16(floats, count, to);
            default -> RawMemory.set(floats, 0, count, to);
        }
    }

    private static void normalize(int[] values, int count, float mean, float deviation, float[] out) {
        for (int i = 0; i < count; i++) {
            out[i] = (values[i] / 255f - mean) / deviation;
        }
    }

    private static void normalize(int[] values, int count, float mean, float deviation, float[] out, int first,
            int step) {
        for (int i = 0; i < count; i++) {
            out[first + i * step] = (values[i] / 255f - mean) / deviation;
        }
    }
}
