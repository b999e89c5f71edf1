// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import io.penstock.image.PixelFormat;
import io.penstock.internal.Scratch;
import java.awt.image.DataBuffer;
import java.awt.image.DataBufferByte;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.event.IIOReadWarningListener;
import javax.imageio.stream.MemoryCacheImageInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The JDK's JPEG decoder. It only decodes and upsamples the components: its color conversion depends on profiles and on
 * guesses that differ from libjpeg's. The only class that uses {@code java.desktop}.
 */
final class JdkJpeg implements JpegDecoder, IIOReadWarningListener {

    private static final String PACKAGE = "com.sun.imageio.plugins.jpeg.";

    private final ImageReader reader;
    private final Scratch pixels = new Scratch();
    private final boolean acceptsWarnings;
    private @Nullable String warning;

    JdkJpeg(boolean acceptsWarnings) {
        this.acceptsWarnings = acceptsWarnings;
        reader = jdkReader();
        reader.addIIOReadWarningListener(this);
    }

    private static ImageReader jdkReader() {
        for (Iterator<ImageReader> readers = ImageIO.getImageReadersByFormatName("jpeg"); readers.hasNext();) {
            ImageReader reader = readers.next();
            if (reader.getClass().getName().startsWith(PACKAGE)) {
                return reader;
            }
        }
        throw new NoClassDefFoundError("a reader for JPEG in " + PACKAGE);
    }

    @Override
    public void warningOccurred(ImageReader source, String message) {
        if (warning == null) {
            warning = message;
        }
    }

    @Override
    public void decode(JpegHeader jpeg, ImageHeader header, MemorySegment stored, long storedBytes,
            @Nullable PixelFormat format, int denominator, ImagePart part, MemorySegment target, long targetOffset) {
        if (jpeg.arithmetic) {
            throw new CodecException("arithmetic coding", "Huffman coding (libturbojpeg reads both)");
        }
        if (storedBytes > Integer.MAX_VALUE - 8) {
            throw new CodecException(storedBytes + " bytes", "less than 2 GiB");
        }
        byte[] components = components(jpeg, header, (int) storedBytes);
        long count = (long) header.width * header.height;
        if (denominator == 1) {
            convert(jpeg.coding, components, count, format, target, targetOffset);
            return;
        }
        int channels = format == null ? header.layout.channels() : format.channels();
        MemorySegment whole = pixels.of(count * channels);
        convert(jpeg.coding, components, count, format, whole, 0);
        shrink(whole, header.width, header.height, channels, denominator, target, targetOffset);
    }

    /** Returns all components of all pixels, interleaved. */
    private byte[] components(JpegHeader jpeg, ImageHeader header, int storedBytes) {
        byte[] bytes = new byte[storedBytes];
        int length = jpeg.copyNeeded(bytes);
        warning = null;
        Raster raster;
        try (var in = new MemoryCacheImageInputStream(new ByteArrayInputStream(bytes, 0, length))) {
            reader.setInput(in, true, true);
            raster = reader.readRaster(0, null);
        } catch (IOException | RuntimeException e) {
            throw refused(String.valueOf(e.getMessage()));
        } finally {
            reader.setInput(null);
        }
        if (warning != null && !acceptsWarnings) {
            throw refused(warning);
        }
        if (warning != null && !jpeg.hasEndAfterScan()) {
            throw JpegLibrary.cutOff();
        }
        int channels = header.layout.channels();
        if (raster.getWidth() != header.width || raster.getHeight() != header.height
                || raster.getNumBands() != channels) {
            throw refused("a size that differs from the header");
        }
        DataBuffer data = raster.getDataBuffer();
        if (data instanceof DataBufferByte buffer && buffer.getData().length == header.storedByteSize()) {
            return buffer.getData();
        }
        throw refused(data + " in place of bytes");
    }

    private static CodecException refused(String message) {
        return new CodecException("the JDK's decoder says '" + message + "'", JpegLibrary.EXPECTED);
    }

    private static void convert(JpegHeader.Coding coding, byte[] components, long pixels, @Nullable PixelFormat format,
            MemorySegment target, long targetOffset) {
        if (coding == JpegHeader.Coding.CMYK || coding == JpegHeader.Coding.YCCK) {
            if (coding == JpegHeader.Coding.YCCK) {
                Chroma.toInks(components);
            }
            Inks.convert(MemorySegment.ofArray(components), pixels, format, target, targetOffset);
            return;
        }
        if (coding == JpegHeader.Coding.YCBCR) {
            if (format == PixelFormat.GRAY) {
                for (int i = 0; i < components.length; i += 3) {
                    target.set(JAVA_BYTE, targetOffset + i / 3, components[i]);
                }
                return;
            }
            Chroma.toRgb(components);
        }
        int channels = coding == JpegHeader.Coding.GRAY ? 1 : 3;
        if (format == null || format.channels() == channels) {
            MemorySegment.copy(components, 0, target, JAVA_BYTE, targetOffset, components.length);
            return;
        }
        long to = targetOffset;
        for (int i = 0; i < components.length; i += channels) {
            int red = components[i] & 0xFF;
            int green = channels == 1 ? red : components[i + 1] & 0xFF;
            int blue = channels == 1 ? red : components[i + 2] & 0xFF;
            Colors.put(format, red, green, blue, 255, target, to);
            to += format.channels();
        }
    }

    /** Averages squares of pixels, rounded; the last ones may be narrower. */
    private static void shrink(MemorySegment whole, int width, int height, int channels, int denominator,
            MemorySegment target, long targetOffset) {
        long to = targetOffset;
        for (int top = 0; top < height; top += denominator) {
            int bottom = Math.min(top + denominator, height);
            for (int left = 0; left < width; left += denominator) {
                int right = Math.min(left + denominator, width);
                int count = (bottom - top) * (right - left);
                for (int channel = 0; channel < channels; channel++) {
                    int sum = count / 2;
                    for (int y = top; y < bottom; y++) {
                        for (int x = left; x < right; x++) {
                            sum += whole.get(JAVA_BYTE, ((long) y * width + x) * channels + channel) & 0xFF;
                        }
                    }
                    target.set(JAVA_BYTE, to++, (byte) (sum / count));
                }
            }
        }
    }

    @Override
    public void close() {
        reader.dispose();
        pixels.close();
    }
}
