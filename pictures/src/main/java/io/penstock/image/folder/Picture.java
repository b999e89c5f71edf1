// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.folder;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.image.PixelFormat;
import io.penstock.image.reading.ImageFormat;
import io.penstock.image.reading.ImageHeader;
import io.penstock.image.reading.ImageReader;
import io.penstock.image.reading.Orientation;
import io.penstock.image.reading.PixelLayout;
import io.penstock.internal.Sha256;
import io.penstock.json.Json;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An image as Pillow describes it once opened: the mode that it chooses, and pixels in that mode. Sizes are as stored.
 *
 * @param orientation the Exif orientation; 0 if there is none
 * @param isTransparent whether a color, or colors of the palette, are transparent
 */
record Picture(ImageFormat format, int width, int height, PixelLayout layout, int storedBits, int orientation,
        boolean isTransparent) {

    private static final int MEAN_DIGITS = 4;

    static Picture of(ImageHeader header) {
        return new Picture(header.format(), header.width(), header.height(), header.layout(), header.bits(),
                header.orientation(), header.isTransparent());
    }

    private String mode() {
        return switch (layout) {
            case GRAY -> storedBits == 1 ? "1" : storedBits == 16 ? "I;16" : "L";
            case GRAY_ALPHA -> storedBits == 16 ? "RGBA" : "LA";
            case RGB -> "RGB";
            case RGBA -> "RGBA";
            case CMYK -> "CMYK";
            case PALETTE -> "P";
        };
    }

    private String layoutName() {
        return switch (layout) {
            case GRAY -> storedBits == 1 ? "gray1 as 0/255" : storedBits == 16 ? "gray16" : "gray";
            case GRAY_ALPHA -> storedBits == 16 ? "RGBA" : "gray+alpha";
            case RGB -> "RGB";
            case RGBA -> "RGBA";
            case CMYK -> "CMYK";
            case PALETTE -> "palette index";
        };
    }

    /** Returns the bits per channel in that mode: 8, except for gray of 16. */
    private int bits() {
        return layout == PixelLayout.GRAY && storedBits == 16 ? 16 : 8;
    }

    Map<String, @Nullable Object> toMap() {
        Map<String, @Nullable Object> map = Json.members("width", width, "height", height, "mode", mode(),
                "layout", layoutName(), "bits", bits());
        if (storedBits != 8) {
            map.put("stored_bits", storedBits);
        }
        map.put("exact", format == ImageFormat.PNG);
        if (orientation != 0) {
            map.put("exif_orientation", orientation);
        }
        return map;
    }

    /** Adds the digests to the result of {@link #toMap}. The reader has read the header. */
    void digest(Map<String, @Nullable Object> image, MemorySegment stored, ImageReader reader, ImageHeader header,
            Arena arena) throws IOException {
        boolean narrowed = storedBits == 16 && bits() == 8;
        MemorySegment pixels = !narrowed ? stored
                : pixels(reader, header, mode().equals("RGB") ? PixelFormat.RGB : PixelFormat.RGBA, arena);
        int pixelBytes = (int) (pixels.byteSize() / ((long) width * height));
        image.put("pixels_sha256", sha256(pixels));
        image.put("mean", mean(pixels, pixelBytes / (bits() / 8)));
        if (orientation != 0) {
            MemorySegment turned = arena.allocate(pixels.byteSize());
            Orientation.turn(orientation, pixels, width, height, pixelBytes, turned, 0);
            boolean transposed = Orientation.isTransposed(orientation);
            Map<String, @Nullable Object> upright = Json.members("width", transposed ? height : width,
                    "height", transposed ? width : height, "pixels_sha256", sha256(turned));
            image.put("upright", upright);
        }
        if (!List.of("RGB", "L", "I;16").contains(mode())) {
            image.put("rgb_sha256", sha256(pixels(reader, header, PixelFormat.RGB, arena)));
        }
        if (isTransparent && bits() == 8) {
            image.put("rgba_sha256", sha256(pixels(reader, header, PixelFormat.RGBA, arena)));
        }
    }

    private static MemorySegment pixels(ImageReader reader, ImageHeader header, PixelFormat format, Arena arena)
            throws IOException {
        MemorySegment pixels = arena.allocate((long) header.width() * header.height() * format.channels());
        reader.decode(format, 1, pixels, 0);
        return pixels;
    }

    private static String sha256(MemorySegment pixels) {
        return Sha256.hex(pixels, _ -> { });
    }

    private List<Object> mean(MemorySegment pixels, int channels) {
        long[] sums = new long[channels];
        long values = (long) width * height * channels;
        for (long i = 0; i < values; i++) {
            sums[(int) (i % channels)] += bits() == 16 ? pixels.get(LittleEndian.I16, 2 * i) & 0xFFFF
                    : pixels.get(JAVA_BYTE, i) & 0xFF;
        }
        List<Object> means = new ArrayList<>();
        for (long sum : sums) {
            means.add(new BigDecimal((double) sum / ((double) width * height))
                    .setScale(MEAN_DIGITS, RoundingMode.HALF_EVEN).doubleValue());
        }
        return means;
    }
}
