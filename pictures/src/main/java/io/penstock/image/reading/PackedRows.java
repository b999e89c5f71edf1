// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Writes rows of pixels to memory as {@code u8}, channels interleaved. */
final class PackedRows implements PixelRows {

    private static final VarHandle INT_OF_BYTES =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private MemorySegment target = MemorySegment.NULL;
    private long offset;
    private int width;
    private int channels;
    private byte[] bytes = {};

    PackedRows into(MemorySegment memory, long memoryOffset, int rowPixels, int channelCount) {
        target = memory;
        offset = memoryOffset;
        width = rowPixels;
        channels = channelCount;
        if (bytes.length < rowPixels * channelCount + 1) {
            bytes = new byte[rowPixels * channelCount + 1];
        }
        return this;
    }

    @Override
    public void row(int row, int[][] of) {
        if (channels == 3) {
            interleave3(of[0], of[1], of[2], bytes, width);
        } else {
            for (int c = 0; c < channels; c++) {
                interleave(of[c], bytes, c, channels, width);
            }
        }
        int count = width * channels;
        MemorySegment.copy(bytes, 0, target, JAVA_BYTE, offset + (long) row * count, count);
    }

    /** Each pixel overwrites a byte behind it, which the next one sets. */
    private static void interleave3(int[] a, int[] b, int[] c, byte[] out, int width) {
        for (int x = 0; x < width; x++) {
            INT_OF_BYTES.set(out, 3 * x, a[x] | b[x] << 8 | c[x] << 16);
        }
    }

    private static void interleave(int[] values, byte[] out, int channel, int channels, int width) {
        for (int x = 0; x < width; x++) {
            out[x * channels + channel] = (byte) values[x];
        }
    }
}
