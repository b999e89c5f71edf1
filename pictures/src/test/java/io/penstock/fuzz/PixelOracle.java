// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.error.CodecException;
import io.penstock.image.ImageDecoding;
import io.penstock.image.ImageFit;
import io.penstock.image.PixelFormat;
import io.penstock.image.reading.FrameDecoder;
import io.penstock.image.reading.ImageFitter;
import io.penstock.image.reading.ImageFormat;
import io.penstock.image.reading.ImageHeader;
import io.penstock.image.reading.ImageReader;
import io.penstock.image.reading.JpegLibrary;
import io.penstock.image.reading.Oracle;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/** What must hold of an image's bytes: they are refused, or decode the same twice, within the memory that is given. */
final class PixelOracle {

    private static final long MAX_PIXELS = 1 << 16;
    private static final int MARGIN = 64;
    private static final byte POISON = 0x5A;

    private PixelOracle() {
    }

    /** The images of tests whose names end so. */
    static List<byte[]> images(String ending) throws IOException {
        List<byte[]> images = new ArrayList<>();
        for (String name : Oracle.images().keySet()) {
            if (name.endsWith(ending)) {
                images.add(Files.readAllBytes(Oracle.folder().resolve(name)));
            }
        }
        return images;
    }

    static void check(byte[] image, JpegLibrary library) throws IOException {
        try (Arena arena = Arena.ofConfined(); ImageReader reader = new ImageReader(library, MAX_PIXELS)) {
            MemorySegment stored = arena.allocateFrom(ValueLayout.JAVA_BYTE, image);
            try {
                ImageHeader header = reader.read(stored, image.length);
                twice(reader, header, null, 1, arena);
                for (PixelFormat format : PixelFormat.values()) {
                    twice(reader, header, format, 1, arena);
                    if (header.format() == ImageFormat.JPEG) {
                        twice(reader, header, format, 2 << format.ordinal(), arena);
                    }
                }
                fitted(stored, image.length, library, arena);
            } catch (CodecException e) {
                StoreOracle.requireOneLine(e.getMessage());
            }
        }
    }

    private static void twice(ImageReader reader, ImageHeader header, PixelFormat format, int denominator, Arena arena)
            throws IOException {
        long bytes = format == null ? header.storedByteSize() : (long) format.channels()
                * ImageReader.scaled(header.width(), denominator) * ImageReader.scaled(header.height(), denominator);
        MemorySegment first = decoded(reader, format, denominator, bytes, (byte) 0, arena);
        MemorySegment second = decoded(reader, format, denominator, bytes, (byte) -1, arena);
        if (first.mismatch(second) != -1) {
            throw new AssertionError("decodes to something else the second time: " + header + " to " + format);
        }
    }

    private static MemorySegment decoded(ImageReader reader, PixelFormat format, int denominator, long bytes,
            byte before, Arena arena) throws IOException {
        MemorySegment target = arena.allocate(bytes + 2 * MARGIN).fill(POISON);
        target.asSlice(MARGIN, bytes).fill(before);
        if (format == null) {
            reader.decodeStored(target, MARGIN);
        } else {
            reader.decode(format, denominator, target, MARGIN);
        }
        for (int i = 0; i < MARGIN; i++) {
            if (target.get(ValueLayout.JAVA_BYTE, i) != POISON
                    || target.get(ValueLayout.JAVA_BYTE, MARGIN + bytes + i) != POISON) {
                throw new AssertionError("wrote outside of its target");
            }
        }
        return target.asSlice(MARGIN, bytes);
    }

    private static void fitted(MemorySegment stored, long bytes, JpegLibrary library, Arena arena) throws IOException {
        MemorySegment target = arena.allocate(5 * 7 * 3);
        try (var fitter = new ImageFitter(ImageFit.shorterSide(9, 5, 7),
                new FrameDecoder(ImageDecoding.rgb().upright().scaled().maxPixels(MAX_PIXELS), library))) {
            fitter.read(stored, bytes, target, 0);
        }
    }
}
