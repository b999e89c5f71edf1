// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

/**
 * The wanted part of an image and the size it is resized to, decided before any pixel is decoded: first a part of the
 * image, then its resized size, then a part of that, then perhaps its mirror image. Reused for all images of a thread.
 *
 * <p>The part's own edge is the border: pixels outside it do not count in resizing. That is Pillow's
 * {@code image.crop(...).resize(...).crop(...)}.
 */
public final class ImageFrame {

    private static final int REDUCING_GAP = 2;
    private static final int MAX_DENOMINATOR = 8;

    int imageHeight;
    int imageWidth;
    int top;
    int left;
    int partHeight;
    int partWidth;
    Resizer.Filter filter = Resizer.Filter.BILINEAR;
    boolean resized;
    int resizedHeight;
    int resizedWidth;
    int cropTop;
    int cropLeft;
    int height;
    int width;
    boolean mirrored;

    public void reset(int wholeHeight, int wholeWidth) {
        imageHeight = wholeHeight;
        imageWidth = wholeWidth;
        top = left = 0;
        resized = mirrored = false;
        keep(wholeHeight, wholeWidth);
    }

    /** Takes a part of the image, not resized yet. */
    private void keep(int rows, int columns) {
        partHeight = rows;
        partWidth = columns;
        scale(rows, columns);
    }

    private void scale(int rows, int columns) {
        resizedHeight = height = rows;
        resizedWidth = width = columns;
        cropTop = cropLeft = 0;
    }

    public int height() {
        return height;
    }

    public int width() {
        return width;
    }

    /** Crops the result to at least one pixel, inside it. */
    public void crop(int row, int column, int rows, int columns) {
        if (row < 0 || column < 0 || rows < 1 || columns < 1 || row > height - rows || column > width - columns) {
            throw new IllegalArgumentException("a crop of " + rows + " x " + columns + " at " + row + ", " + column
                    + " of an image of " + height + " x " + width);
        }
        int from = mirrored ? width - column - columns : column;
        if (resized) {
            cropTop += row;
            cropLeft += from;
            height = rows;
            width = columns;
        } else {
            top += row;
            left += from;
            keep(rows, columns);
        }
    }

    /** Resizes the result. Returns false, and changes nothing, if it was resized before. */
    public boolean resize(int rows, int columns, Resizer.Filter by) {
        if (rows == height && columns == width) {
            return true;
        }
        if (resized) {
            return false;
        }
        scale(rows, columns);
        filter = by;
        resized = true;
        return true;
    }

    public void mirror() {
        mirrored = !mirrored;
    }

    boolean isWhole() {
        return !resized && !mirrored && height == imageHeight && width == imageWidth;
    }

    /** Returns how many times smaller the image may be decoded: each side keeps twice the resized length. */
    int denominator() {
        int denominator = MAX_DENOMINATOR;
        while (denominator > 1 && (ImageReader.scaled(partWidth, denominator) < (long) REDUCING_GAP * resizedWidth
                || ImageReader.scaled(partHeight, denominator) < (long) REDUCING_GAP * resizedHeight)) {
            denominator /= 2;
        }
        return denominator;
    }
}
