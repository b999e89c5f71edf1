// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.folder;

import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.Mapping;
import io.penstock.format.TensorFiles;
import io.penstock.image.ImageDecoding;
import io.penstock.image.reading.ImageFormat;
import io.penstock.image.reading.ImageHeader;
import io.penstock.image.reading.ImageReader;
import io.penstock.image.reading.JpegLibrary;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreInfo;
import io.penstock.store.StoreProvider;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One image, JPEG or PNG: a store of one tensor, decoded at open: height × width × stored channels, {@code u8}, or
 * {@code u16} for a PNG of 16 bits. Gray of fewer bits is scaled to 0 to 255; a palette's indices are as stored; CMYK
 * has 255 for full ink. The Exif orientation is not applied.
 *
 * <p>Inspection describes the image in Pillow's terms. On demand it computes the digests of the pixels that Pillow
 * opens: 8 bits per channel, except for gray of 16; of an image with an orientation also upright; of one that is
 * neither plain gray nor RGB also converted to RGB.
 *
 * <p>Many images are records of another store, which an {@link io.penstock.decode decoder} brings to one size.
 */
public final class ImageProvider implements StoreProvider {

    private static final String NAME = "images";
    private static final long ALIGNMENT_BYTES = 64;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        return ImageFormat.of(MemorySegment.ofArray(candidate.head()), candidate.head().length) != null;
    }

    @Override
    public boolean matchesName(Candidate candidate) {
        return candidate.isFile()
                && candidate.name().toLowerCase(Locale.ROOT).matches("(?s).*\\.(jpg|jpeg|jpe|jfif|png)");
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return open(path, ImageDecoding.DEFAULT_MAX_PIXELS);
    }

    @FunctionalInterface
    private interface Use<T> {
        T of(ImageReader reader, ImageHeader header, Arena scratch) throws IOException;
    }

    static TensorStore open(Location path, long maxPixels) throws IOException {
        return Mapping.open(path, file -> {
            Arena arena = Arena.ofShared();
            try {
                return use(file, maxPixels, (reader, header, _) -> store(file, reader, header, arena));
            } catch (Throwable t) {
                arena.close();
                throw t;
            }
        });
    }

    private static <T> T use(MappedFile file, long maxPixels, Use<T> use) throws IOException {
        try (Arena scratch = Arena.ofConfined();
                ImageReader reader = new ImageReader(JpegLibrary.preferred(), maxPixels)) {
            MemorySegment copy = scratch.allocate(file.byteSize(), ALIGNMENT_BYTES).copyFrom(file.segment());
            return use.of(reader, reader.read(copy, file.byteSize()), scratch);
        } catch (CodecException e) {
            throw new MalformedStoreException(file.location(), e);
        } catch (OutOfMemoryError e) {
            throw new IOException(file.location() + ": no memory for the image and its pixels", e);
        }
    }

    private static TensorStore store(MappedFile file, ImageReader reader, ImageHeader header, Arena arena)
            throws IOException {
        MemorySegment pixels = arena.allocate(header.storedByteSize(), ALIGNMENT_BYTES);
        reader.decodeStored(pixels, 0);
        Picture picture = Picture.of(header);
        TensorSpec spec = new TensorSpec("", header.bits() == 16 ? DType.U16 : DType.U8, header.height(),
                header.width(), header.layout().channels());
        return TensorFiles.of(NAME, "", file,
                new TensorFiles.Entry(spec, true, TensorFiles.Bytes.in(pixels.asReadOnly())),
                digest -> describe(file, picture, pixels, digest), arena::close);
    }

    /** javac leaves {@code @Nullable} out of the class file of a compact constructor, here that of StoreInfo. */
    @SuppressWarnings("NullAway")
    private static StoreInfo describe(MappedFile file, Picture picture, MemorySegment pixels, boolean digest)
            throws IOException {
        Map<String, @Nullable Object> image = picture.toMap();
        if (digest) {
            use(file, Long.MAX_VALUE, (reader, header, scratch) -> {
                picture.digest(image, pixels, reader, header, scratch);
                return image;
            });
        }
        Map<String, @Nullable Object> details = Json.members("format", picture.format().toString(), "image", image);
        return new StoreInfo(NAME, List.of(file.location()), details, List.of());
    }
}
