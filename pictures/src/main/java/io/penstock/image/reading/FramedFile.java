// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * An image in a row of a batch, for a device that decodes: its {@link ImageFrame}, then either the JPEG file or, where
 * the device cannot decode it, the framed RGB pixels themselves. The rest of the row is 0.
 *
 * <pre>
 *   i32 at byte 0   the file's bytes; 0 if pixels follow
 *               4   height, width                          of the image
 *              12   top, left, height, width               of its part that is resized
 *              28   height, width                          of the resized part
 *              36   top, left                              of the result in it; rows and columns are the batch's
 *              44   1 if the result is mirrored
 *              48   the filter: a {@link Resizer.Filter}'s ordinal
 *              64   the file, or u8 [rows, columns, 3]
 * </pre>
 */
public final class FramedFile {

    /** The bytes before the file. */
    public static final int HEADER_BYTES = 64;

    private static final int CHANNELS = 3;
    private static final int FILE_BYTES = 0;
    private static final int HEIGHT = 4;
    private static final int WIDTH = 8;
    private static final int TOP = 12;
    private static final int LEFT = 16;
    private static final int PART_HEIGHT = 20;
    private static final int PART_WIDTH = 24;
    private static final int RESIZED_HEIGHT = 28;
    private static final int RESIZED_WIDTH = 32;
    private static final int CROP_TOP = 36;
    private static final int CROP_LEFT = 40;
    private static final int MIRRORED = 44;
    private static final int FILTER = 48;
    private static final int FILTER_END = 52;
    private static final Resizer.Filter[] FILTERS = Resizer.Filter.values();

    private FramedFile() {
    }

    /** Writes a file and its frame, if the row has room for them. */
    static boolean write(ImageFrame frame, MemorySegment file, long fileBytes, MemorySegment to, long at, long bytes) {
        if (HEADER_BYTES + fileBytes > bytes) {
            return false;
        }
        set(to, at + FILE_BYTES, (int) fileBytes);
        set(to, at + HEIGHT, frame.imageHeight);
        set(to, at + WIDTH, frame.imageWidth);
        set(to, at + TOP, frame.top);
        set(to, at + LEFT, frame.left);
        set(to, at + PART_HEIGHT, frame.partHeight);
        set(to, at + PART_WIDTH, frame.partWidth);
        set(to, at + RESIZED_HEIGHT, frame.resizedHeight);
        set(to, at + RESIZED_WIDTH, frame.resizedWidth);
        set(to, at + CROP_TOP, frame.cropTop);
        set(to, at + CROP_LEFT, frame.cropLeft);
        set(to, at + MIRRORED, frame.mirrored ? 1 : 0);
        set(to, at + FILTER, filter(frame).ordinal());
        clear(to, at + FILTER_END, at + HEADER_BYTES);
        MemorySegment.copy(file, 0, to, at + HEADER_BYTES, fileBytes);
        clear(to, at + HEADER_BYTES + fileBytes, at + bytes);
        return true;
    }

    /** Writes what surrounds pixels: a header that says that they follow, and the rest of the row behind them. */
    public static void surround(long pixelBytes, MemorySegment to, long at, long bytes) {
        clear(to, at, at + HEADER_BYTES);
        clear(to, at + HEADER_BYTES + pixelBytes, at + bytes);
    }

    /** Returns the bytes of a row's file; 0 if it has pixels. */
    public static int fileBytes(MemorySegment row, long at) {
        return get(row, at + FILE_BYTES);
    }

    /** Returns the pixels in a row of the decoded image. */
    public static int width(MemorySegment row, long at) {
        return get(row, at + WIDTH);
    }

    /** Returns the bytes of the decoded image. */
    public static long imageBytes(MemorySegment row, long at) {
        return imageBytes(get(row, at + HEIGHT), get(row, at + WIDTH));
    }

    private static long imageBytes(int height, int width) {
        return (long) height * width * CHANNELS;
    }

    /** Returns the bytes of a kernel's weights for a result of these rows and columns. */
    public static long weightBytes(MemorySegment row, long at, long rows, long columns) {
        int filter = get(row, at + FILTER);
        return weightBytes(FILTERS[filter], get(row, at + PART_HEIGHT), get(row, at + RESIZED_HEIGHT), rows)
                + weightBytes(FILTERS[filter], get(row, at + PART_WIDTH), get(row, at + RESIZED_WIDTH), columns);
    }

    /** Of each output the first input, their number, and their weights, of which there is room for the most. */
    private static long weightBytes(Resizer.Filter filter, int from, int to, long outputs) {
        double reach = (filter == Resizer.Filter.BICUBIC ? 2 : 1) * Math.max((double) from / to, 1);
        return Integer.BYTES * outputs * (2 + (int) Math.ceil(reach) * 2 + 1);
    }

    /** Returns the bytes that a device needs to decode and resize what is framed. */
    static long scratchBytes(ImageFrame frame) {
        return imageBytes(frame.imageHeight, frame.imageWidth)
                + weightBytes(filter(frame), frame.partHeight, frame.resizedHeight, frame.height)
                + weightBytes(filter(frame), frame.partWidth, frame.resizedWidth, frame.width);
    }

    /** The filter of a frame; one that is not resized still has that of an earlier image. */
    private static Resizer.Filter filter(ImageFrame frame) {
        return frame.resized ? frame.filter : FILTERS[0];
    }

    /** Sets the frame that a row has, for a result of these rows and columns. */
    public static void read(MemorySegment row, long at, int rows, int columns, ImageFrame into) {
        into.imageHeight = get(row, at + HEIGHT);
        into.imageWidth = get(row, at + WIDTH);
        into.top = get(row, at + TOP);
        into.left = get(row, at + LEFT);
        into.partHeight = get(row, at + PART_HEIGHT);
        into.partWidth = get(row, at + PART_WIDTH);
        into.resizedHeight = get(row, at + RESIZED_HEIGHT);
        into.resizedWidth = get(row, at + RESIZED_WIDTH);
        into.cropTop = get(row, at + CROP_TOP);
        into.cropLeft = get(row, at + CROP_LEFT);
        into.height = rows;
        into.width = columns;
        into.mirrored = get(row, at + MIRRORED) != 0;
        into.filter = FILTERS[get(row, at + FILTER)];
        into.resized = true;
    }

    private static int get(MemorySegment row, long at) {
        return row.get(LittleEndian.I32, at);
    }

    private static void set(MemorySegment row, long at, int value) {
        row.set(LittleEndian.I32, at, value);
    }

    private static void clear(MemorySegment row, long from, long to) {
        long at = from;
        for (; at + Long.BYTES <= to; at += Long.BYTES) {
            row.set(LittleEndian.I64, at, 0);
        }
        for (; at < to; at++) {
            row.set(ValueLayout.JAVA_BYTE, at, (byte) 0);
        }
    }
}
