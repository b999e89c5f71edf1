// SPDX-License-Identifier: Apache-2.0
package io.penstock.pictures;

import io.penstock.decode.Decoder;
import io.penstock.error.CodecException;
import io.penstock.image.ImageDecoding;
import io.penstock.image.ImageFit;
import io.penstock.image.PixelFormat;
import io.penstock.image.reading.FrameDecoder;
import io.penstock.image.reading.ImageFitter;
import io.penstock.image.reading.JpegLibrary;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;

/**
 * Decodes JPEG and PNG, detected from the bytes, to {@code u8[height, width, channels]}.
 *
 * <pre>{@code
 * ImageDecoder.rgb(224, 224);                                     // stretched to 224x224
 * ImageDecoder.rgb(ImageFit.shorterSide(256, 224, 224));          // as torchvision's Resize(256), CenterCrop(224)
 * ImageDecoder.gray(ImageFit.exactly(28, 28));                    // another size is an error
 * ImageDecoder.of(ImageDecoding.rgb().upright(), ImageFit.exactly(28, 28));   // turned by the Exif orientation first
 * }</pre>
 *
 * <p>{@code rgb} and {@code gray} decode large JPEGs {@linkplain ImageDecoding#scaled smaller}; {@code of} with a plain
 * {@link ImageDecoding} resizes whole images. Pixels have a {@link PixelFormat}: {@code u8}, not normalized; a
 * transform on the device converts them to floats.
 */
public final class ImageDecoder implements Decoder {

    private static final Set<String> READ = Set.of("jpg", "jpeg", "jfif", "png", "img", "image", "image/jpeg",
            "image/png", "");
    private static final Set<String> NOT_READ = Set.of("ppm", "pgm", "pbm", "pnm", "webp", "gif", "bmp", "tif", "tiff",
            "avif", "heic", "jxl", "jp2");

    private final ImageDecoding decoding;
    private final ImageFit fit;

    private ImageDecoder(ImageDecoding decoding, ImageFit fit) {
        this.decoding = Objects.requireNonNull(decoding, "decoding");
        this.fit = Objects.requireNonNull(fit, "fit");
    }

    /**
     * Decodes to RGB, stretching images to one size.
     *
     * @param height rows
     * @param width pixels in a row
     * @return a decoder to {@code u8[height, width, 3]}
     */
    public static ImageDecoder rgb(int height, int width) {
        return rgb(ImageFit.stretch(height, width));
    }

    /**
     * Decodes to RGB.
     *
     * @param fit how images are brought to one size
     * @return a decoder to {@code u8[height, width, 3]}
     */
    public static ImageDecoder rgb(ImageFit fit) {
        return of(ImageDecoding.rgb().scaled(), fit);
    }

    /**
     * Decodes to gray, stretching images to one size.
     *
     * @param height rows
     * @param width pixels in a row
     * @return a decoder to {@code u8[height, width, 1]}
     */
    public static ImageDecoder gray(int height, int width) {
        return gray(ImageFit.stretch(height, width));
    }

    /**
     * Decodes to gray.
     *
     * @param fit how images are brought to one size
     * @return a decoder to {@code u8[height, width, 1]}
     */
    public static ImageDecoder gray(ImageFit fit) {
        return of(ImageDecoding.gray().scaled(), fit);
    }

    /**
     * Decodes in any way.
     *
     * @param decoding how files become pixels
     * @param fit how images are brought to one size
     * @return a decoder to {@code u8[height, width, channels]}
     */
    public static ImageDecoder of(ImageDecoding decoding, ImageFit fit) {
        return new ImageDecoder(decoding, fit);
    }

    /** Whether a column declares that its values are JPEG or PNG. */
    static boolean isOfImages(Column column) {
        String encoding = column.suffix();
        return column.kind() == Column.Kind.BYTES && !encoding.isEmpty() && READ.contains(encoding);
    }

    @Override
    public TensorSpec field(Column column) {
        String encoding = column.suffix();
        if (NOT_READ.contains(encoding)) {
            throw new IllegalArgumentException(column + ": images in " + encoding + " are not supported, "
                    + "expected JPEG or PNG");
        }
        if (column.kind() != Column.Kind.BYTES || !READ.contains(encoding)) {
            throw new IllegalArgumentException(column + ": not images, expected the bytes of JPEG or PNG files");
        }
        return new TensorSpec(column.name(), DType.U8, fit.height(), fit.width(), decoding.format().channels());
    }

    @Override
    public Session open() {
        return new Images(new ImageFitter(fit, new FrameDecoder(decoding)),
                (long) fit.height() * fit.width() * decoding.format().channels());
    }

    @Override
    public String part() {
        return JpegLibrary.preferred().part();
    }

    private record Images(ImageFitter fitter, long byteSize) implements Session {

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) {
            return byteSize;
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) throws IOException {
            if (targetBytes != byteSize) {
                throw new CodecException("pixels of " + byteSize + " bytes", targetBytes + " bytes");
            }
            fitter.read(stored, storedBytes, target, targetOffset);
        }

        @Override
        public void close() {
            fitter.close();
        }
    }

    @Override
    public String toString() {
        return decoding.format() + " images, " + fit + (decoding.isUpright() ? ", upright" : "")
                + (decoding.isScaled() || fit.sizing() == ImageFit.Sizing.EXACT ? "" : ", decoded whole");
    }
}
