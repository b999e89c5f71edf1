// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import io.penstock.error.CodecException;
import io.penstock.image.PixelFormat;
import org.jspecify.annotations.Nullable;

/** Converts an unfiltered row of a PNG to the requested pixels. */
final class PngRow {

    @SuppressWarnings("NullAway.Init")
    private PngHeader png;
    private @Nullable PixelFormat format;
    private int channels;
    private int bitsPerPixel;
    private int pixelBytes;

    /**
     * Sets the stored and the requested layout of rows. A null format means the stored channels: little-endian {@code
     * u16} for 16 bits, otherwise {@code u8}, gray of fewer bits scaled to 0 to 255, palette indices unchanged.
     */
    void set(PngHeader header, ImageHeader image, @Nullable PixelFormat wanted) {
        png = header;
        format = wanted;
        channels = image.layout.channels();
        bitsPerPixel = channels * png.depth;
        pixelBytes = wanted != null ? wanted.channels() : channels * (png.depth == 16 ? 2 : 1);
    }

    int pixelBytes() {
        return pixelBytes;
    }

    int storedBytes(int columns) {
        long bytes = ((long) columns * bitsPerPixel + 7) / 8;
        if (Math.max(bytes, (long) columns * pixelBytes) > Integer.MAX_VALUE - 64) {
            throw new CodecException("rows of " + bytes + " bytes", "less than 2 GiB");
        }
        return (int) bytes;
    }

    /** Returns the distance in bytes to the same channel of the previous pixel, for filters. */
    int filterDistance() {
        return Math.max(1, bitsPerPixel / 8);
    }

    /**
     * Converts the row in {@code stored} from its second byte on; returns the pixels in {@code into} from its first
     * byte on, or in {@code stored} from its second on.
     */
    byte[] convert(byte[] stored, int columns, byte[] into) {
        if (format == null) {
            return asStored(stored, columns, into);
        }
        boolean alike = png.colorType == PngHeader.COLOR_RGB && format == PixelFormat.RGB
                || png.colorType == PngHeader.COLOR_RGBA && format == PixelFormat.RGBA
                || png.colorType == PngHeader.COLOR_GRAY && format == PixelFormat.GRAY;
        if (alike && png.depth == 8) {
            return stored;
        }
        for (int x = 0; x < columns; x++) {
            if (png.colorType == PngHeader.COLOR_PALETTE) {
                int color = 4 * value(stored, x);
                put(into, x, png.palette[color] & 0xFF, png.palette[color + 1] & 0xFF, png.palette[color + 2] & 0xFF,
                        png.palette[color + 3] & 0xFF);
                continue;
            }
            int first = x * channels;
            int red = value(stored, first);
            if (channels < 3) {
                int alpha = channels == 2 ? eight(value(stored, first + 1))
                        : png.hasTransparent && red == png.transparent[0] ? 0 : 255;
                int gray = eight(red);
                put(into, x, gray, gray, gray, alpha);
                continue;
            }
            int green = value(stored, first + 1);
            int blue = value(stored, first + 2);
            int alpha = channels == 4 ? eight(value(stored, first + 3))
                    : png.hasTransparent && red == png.transparent[0] && green == png.transparent[1]
                    && blue == png.transparent[2] ? 0 : 255;
            put(into, x, eight(red), eight(green), eight(blue), alpha);
        }
        return into;
    }

    private byte[] asStored(byte[] stored, int columns, byte[] into) {
        int values = columns * channels;
        if (png.depth == 8) {
            return stored;
        }
        if (png.depth == 16) {
            for (int i = 0; i < values; i++) {
                into[2 * i] = stored[2 * i + 2];
                into[2 * i + 1] = stored[2 * i + 1];
            }
            return into;
        }
        boolean spread = png.colorType == PngHeader.COLOR_GRAY;
        for (int i = 0; i < values; i++) {
            int value = value(stored, i);
            into[i] = (byte) (spread ? eight(value) : value);
        }
        return into;
    }

    private int value(byte[] stored, int index) {
        return switch (png.depth) {
            case 8 -> stored[1 + index] & 0xFF;
            case 16 -> (stored[1 + 2 * index] & 0xFF) << 8 | stored[2 + 2 * index] & 0xFF;
            case 4 -> stored[1 + (index >> 1)] >> 4 * (1 - (index & 1)) & 15;
            case 2 -> stored[1 + (index >> 2)] >> 2 * (3 - (index & 3)) & 3;
            default -> stored[1 + (index >> 3)] >> 7 - (index & 7) & 1;
        };
    }

    /** Returns a value in 8 bits: the upper ones of 16, or fewer repeated, so that the greatest becomes 255. */
    private int eight(int value) {
        return switch (png.depth) {
            case 8 -> value;
            case 16 -> value >> 8;
            case 4 -> value * 0x11;
            case 2 -> value * 0x55;
            default -> value * 0xFF;
        };
    }

    private void put(byte[] into, int x, int red, int green, int blue, int alpha) {
        int to = x * pixelBytes;
        if (format == PixelFormat.GRAY) {
            into[to] = (byte) (red == green && green == blue ? red : Colors.luma(red, green, blue));
            return;
        }
        into[to] = (byte) red;
        into[to + 1] = (byte) green;
        into[to + 2] = (byte) blue;
        if (format == PixelFormat.RGBA) {
            into[to + 3] = (byte) alpha;
        }
    }
}
