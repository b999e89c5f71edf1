// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static io.penstock.memory.LittleEndian.I16;
import static io.penstock.memory.LittleEndian.I32;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Reads the Exif orientation, and turns pixels upright. */
public final class Orientation {

    /** Pixels are stored upright. */
    public static final int UPRIGHT = 1;

    private static final String XMP_TAG = "tiff:Orientation";
    private static final int TAG = 0x0112;
    private static final int TYPE_SHORT = 3;
    private static final int TIFF_HEADER_BYTES = 8;
    private static final int TIFF_MAGIC = 42;
    private static final int ENTRY_BYTES = 12;

    private static final ValueLayout.OfShort BIG_U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt BIG_U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Tells whether turning an image of an orientation, 0 to 8, upright swaps height and width. */
    public static boolean isTransposed(int orientation) {
        return orientation >= 5;
    }

    /** Turns {@code height} stored rows of {@code width} pixels upright. The target must not be the source. */
    public static void turn(int orientation, MemorySegment source, int width, int height, int pixelBytes,
            MemorySegment target, long targetOffset) {
        boolean transposed = isTransposed(orientation);
        int rows = transposed ? width : height;
        int columns = transposed ? height : width;
        // Where the first upright pixel is stored, and the distances to its neighbors on the right and below.
        boolean fromRight = isFromRight(orientation);
        boolean fromBottom = isFromBottom(orientation);
        long right = fromRight ? -pixelBytes : pixelBytes;
        long down = (long) width * (fromBottom ? -pixelBytes : pixelBytes);
        long first = (fromRight ? width - 1L : 0) * pixelBytes + (fromBottom ? height - 1L : 0) * width * pixelBytes;
        long columnStep = transposed ? down : right;
        long rowStep = transposed ? right : down;
        long to = targetOffset;
        for (int row = 0; row < rows; row++) {
            long from = first + row * rowStep;
            for (int column = 0; column < columns; column++) {
                for (int b = 0; b < pixelBytes; b++) {
                    target.set(JAVA_BYTE, to++, source.get(JAVA_BYTE, from + b));
                }
                from += columnStep;
            }
        }
    }

    /** Tells whether the first upright pixel is stored in the last column. */
    private static boolean isFromRight(int orientation) {
        return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    }

    /** Tells whether the first upright pixel is stored in the last row. */
    private static boolean isFromBottom(int orientation) {
        return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    }

    /** Sets a part to where a part of the upright image of {@code height} stored rows of {@code width} is stored. */
    static void toStored(int orientation, int left, int top, int columns, int rows, int width, int height,
            ImagePart part) {
        boolean transposed = isTransposed(orientation);
        int storedColumns = transposed ? rows : columns;
        int storedRows = transposed ? columns : rows;
        int x = transposed ? top : left;
        int y = transposed ? left : top;
        part.set(isFromRight(orientation) ? width - x - storedColumns : x,
                isFromBottom(orientation) ? height - y - storedRows : y, storedColumns, storedRows);
    }

    /** Returns the first upright column of a stored part. */
    static int uprightLeft(int orientation, ImagePart part, int width, int height) {
        return isTransposed(orientation)
                ? isFromBottom(orientation) ? height - part.top - part.height : part.top
                : isFromRight(orientation) ? width - part.left - part.width : part.left;
    }

    /** Returns the first upright row of a stored part. */
    static int uprightTop(int orientation, ImagePart part, int width, int height) {
        return isTransposed(orientation)
                ? isFromRight(orientation) ? width - part.left - part.width : part.left
                : isFromBottom(orientation) ? height - part.top - part.height : part.top;
    }

    /**
     * Returns the orientation in XMP, as an attribute or an element {@code tiff:Orientation}; 0 if there is none.
     * Pillow looks at it where there is none in Exif.
     */
    static int ofXmp(MemorySegment stored, long offset, long bytes) {
        for (long at = 0; at + XMP_TAG.length() + 2 < bytes; at++) {
            int i = 0;
            while (i < XMP_TAG.length() && stored.get(JAVA_BYTE, offset + at + i) == XMP_TAG.charAt(i)) {
                i++;
            }
            if (i < XMP_TAG.length()) {
                continue;
            }
            long value = offset + at + i;
            boolean isElement = stored.get(JAVA_BYTE, value) == '>';
            if (isElement || stored.get(JAVA_BYTE, value) == '=' && stored.get(JAVA_BYTE, value + 1) == '"') {
                long digitAt = value + (isElement ? 1 : 2);
                int digit = digitAt < offset + bytes ? stored.get(JAVA_BYTE, digitAt) - '0' : -1;
                if (digit >= 0 && digit <= 9) {
                    return digit <= 8 ? digit : 0;
                }
            }
        }
        return 0;
    }

    /**
     * Returns the orientation in a TIFF structure, as used by Exif, or 0 if there is none. Malformed data counts as
     * none: annotations do not make an image unreadable.
     */
    static int ofTiff(MemorySegment stored, long offset, long bytes) {
        if (bytes < TIFF_HEADER_BYTES + Short.BYTES) {
            return 0;
        }
        boolean little = stored.get(JAVA_BYTE, offset) == 'I';
        if (stored.get(JAVA_BYTE, offset) != stored.get(JAVA_BYTE, offset + 1)
                || !little && stored.get(JAVA_BYTE, offset) != 'M' || u16(stored, offset + 2, little) != TIFF_MAGIC) {
            return 0;
        }
        long directory = (little ? stored.get(I32, offset + 4) : stored.get(BIG_U32, offset + 4)) & 0xFFFF_FFFFL;
        if (directory > bytes - Short.BYTES) {
            return 0;
        }
        int entries = u16(stored, offset + directory, little);
        for (int i = 0; i < entries; i++) {
            long entry = directory + Short.BYTES + (long) i * ENTRY_BYTES;
            if (entry > bytes - ENTRY_BYTES) {
                return 0;
            }
            if (u16(stored, offset + entry, little) == TAG) {
                int value = u16(stored, offset + entry + 8, little);
                boolean isShort = u16(stored, offset + entry + 2, little) == TYPE_SHORT;
                return isShort && value >= 1 && value <= 8 ? value : 0;
            }
        }
        return 0;
    }

    private static int u16(MemorySegment stored, long offset, boolean little) {
        return (little ? stored.get(I16, offset) : stored.get(BIG_U16, offset)) & 0xFFFF;
    }
}
