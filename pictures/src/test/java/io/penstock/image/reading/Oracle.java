// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import io.penstock.image.ImageDecoding;
import io.penstock.image.PixelFormat;
import io.penstock.internal.Sha256;
import io.penstock.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** Images of many kinds and what Pillow reads in them; {@code make.py} beside them wrote both. */
public final class Oracle {

    private Oracle() {
    }

    /** The folder of the images. */
    public static Path folder() {
        try {
            return Path.of(Oracle.class.getResource("/images").toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The bytes of an image, also where the tests are in a jar. */
    public static byte[] bytes(String name) throws IOException {
        try (InputStream in = Objects.requireNonNull(Oracle.class.getResourceAsStream("/images/" + name), name)) {
            return in.readAllBytes();
        }
    }

    /** The bytes of some images. */
    public static List<byte[]> files(String... names) throws IOException {
        List<byte[]> all = new ArrayList<>();
        for (String name : names) {
            all.add(bytes(name));
        }
        return all;
    }

    static Map<String, Object> all() throws IOException {
        return Json.object(Json.parse(Files.readAllBytes(folder().resolve("oracle.json"))));
    }

    /** What Pillow reads in each image, by its name. */
    public static Map<String, Object> images() throws IOException {
        return Json.object(all().get("images"));
    }

    static Stream<JpegLibrary> libraries() {
        return Arrays.stream(JpegLibrary.values()).filter(JpegLibrary::isPresent);
    }

    static List<String> names(String ending) throws IOException {
        return images().keySet().stream().filter(name -> name.endsWith(ending)).toList();
    }

    /** The pixels of an image; as stored where the format is null. */
    static byte[] decode(JpegLibrary library, byte[] image, PixelFormat format, int denominator) throws IOException {
        try (Arena arena = Arena.ofConfined();
                var reader = new ImageReader(library, ImageDecoding.DEFAULT_MAX_PIXELS)) {
            MemorySegment stored = arena.allocateFrom(ValueLayout.JAVA_BYTE, image);
            ImageHeader header = reader.read(stored, image.length);
            long bytes = format == null ? header.storedByteSize() : (long) format.channels()
                    * ImageReader.scaled(header.width(), denominator)
                    * ImageReader.scaled(header.height(), denominator);
            MemorySegment pixels = arena.allocate(bytes + 1).fill((byte) 0x5A);
            if (format == null) {
                reader.decodeStored(pixels, 0);
            } else {
                reader.decode(format, denominator, pixels, 0);
            }
            if (pixels.get(ValueLayout.JAVA_BYTE, bytes) != 0x5A) {
                throw new AssertionError("wrote behind the pixels");
            }
            return pixels.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    static byte[] decode(byte[] image, PixelFormat format) throws IOException {
        return decode(JpegLibrary.preferred(), image, format, 1);
    }

    static String sha256(byte[] bytes) {
        return Sha256.hex(MemorySegment.ofArray(bytes), _ -> { });
    }
}
