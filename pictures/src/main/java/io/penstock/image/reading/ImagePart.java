// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

/** The part of an image that is decoded, in pixels of the decoded image as stored; and how its pixels are packed. */
final class ImagePart {

    int left;
    int top;
    int width;
    int height;
    /** Bytes in a pixel: as many as channels, or 4 for three channels and an undefined byte. */
    int pixelBytes;

    void set(int firstColumn, int firstRow, int columns, int rows) {
        left = firstColumn;
        top = firstRow;
        width = columns;
        height = rows;
    }

    long byteSize() {
        return (long) width * height * pixelBytes;
    }
}
