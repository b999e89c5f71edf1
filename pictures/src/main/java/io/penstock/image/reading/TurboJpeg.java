// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.penstock.error.CodecException;
import io.penstock.error.LibraryException;
import io.penstock.image.PixelFormat;
import io.penstock.internal.Scratch;
import io.penstock.os.DowncallFailure;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decodes by libjpeg-turbo. Warnings are errors: where libjpeg would guess, the image is damaged. On request they are
 * accepted, unless the image has no end.
 *
 * <p>With version 3 only a part is decoded: rows above it are entropy-decoded, rows below it not at all, and of columns
 * beside it those of the same iMCUs. Its pixels are those of whole decoding, for chroma is upsampled from one more
 * column on either side.
 *
 * <p>Addresses are passed as numbers, because a slice would allocate an object per image. The owner keeps the memory
 * alive.
 */
final class TurboJpeg implements JpegDecoder {

    private static final int PIXELS_RGB = 0;
    private static final int PIXELS_RGBX = 2;
    private static final int PIXELS_GRAY = 6;
    private static final int PIXELS_RGBA = 7;
    private static final int PIXELS_CMYK = 11;
    private static final int STOP_ON_WARNING_FLAG = 8192;
    private static final int STOP_ON_WARNING = 0;
    /** {@code TJERR_WARNING} */
    private static final int WARNING = 0;
    private static final int SUBSAMPLING = 4;
    private static final int WIDTH = 5;
    private static final int HEIGHT = 6;
    private static final int SAVED_MARKERS = 25;
    private static final int MAX_MESSAGE_BYTES = 200;
    /** Fewer columns of chroma than three are upsampled in another way. */
    private static final int LEAST_COLUMNS = 16;
    /** The columns of an iMCU, by {@code TJSAMP}: 4:4:4, 4:2:2, 4:2:0, gray, 4:4:0, 4:1:1, 4:4:1. */
    private static final int[] MCU_COLUMNS = {8, 16, 16, 8, 8, 32, 8};

    private static final TurboLibrary LIBRARY = TurboLibrary.FOUND;

    private final Scratch inks = new Scratch();
    private final Scratch structs = new Scratch();
    private final MemorySegment region = structs.of(24).asSlice(0, 16);
    private final MemorySegment scaling = structs.of(24).asSlice(16, 8);
    private final boolean acceptsWarnings;
    private long handle;

    private TurboJpeg(boolean acceptsWarnings) throws Throwable {
        this.acceptsWarnings = acceptsWarnings;
        handle = (long) base().open().invokeExact();
        if (handle == 0) {
            throw new OutOfMemoryError("libturbojpeg gives no decompressor");
        }
        TurboLibrary.Parts parts = LIBRARY.parts();
        if (parts != null) {
            check((int) parts.set().invokeExact(handle, STOP_ON_WARNING, acceptsWarnings ? 0 : 1));
            // Profiles are not needed and may be damaged. Version 3.0 does not read them, and has no such parameter.
            int _ = (int) parts.set().invokeExact(handle, SAVED_MARKERS, 0);
        }
    }

    private static TurboLibrary.Base base() {
        return Objects.requireNonNull(LIBRARY.base());
    }

    static boolean isPresent() {
        return LIBRARY.base() != null;
    }

    static boolean decodesParts() {
        return LIBRARY.parts() != null;
    }

    static TurboJpeg open(boolean acceptsWarnings) {
        if (!isPresent()) {
            throw LibraryException.missing("reading JPEG", "libturbojpeg (libjpeg-turbo)",
                    Objects.requireNonNull(LIBRARY.absence()));
        }
        try {
            return new TurboJpeg(acceptsWarnings);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    @Override
    public void cover(ImageHeader header, MemorySegment stored, long storedBytes, PixelFormat format,
            int denominator, ImagePart part) {
        int width = ImageReader.scaled(header.width, denominator);
        int height = ImageReader.scaled(header.height, denominator);
        int mcu = JpegHeader.hasEnd(stored, storedBytes) ? mcuColumns(header, stored, storedBytes) : 0;
        if (mcu == 0) {
            part.set(0, 0, width, height);
        } else {
            int step = ImageReader.scaled(mcu, denominator);
            int right = Math.min(width, (part.left + part.width) / step * step + step);
            int left = Math.max(0, Math.min(part.left - 1, right - LEAST_COLUMNS)) / step * step;
            right = Math.min(width, Math.max(right, left + LEAST_COLUMNS));
            part.set(left, part.top, right - left, part.height);
        }
        boolean padded = format == PixelFormat.RGB && header.layout != PixelLayout.CMYK;
        part.pixelBytes = padded ? 4 : format.channels();
    }

    /** Reads the header and returns the columns of an iMCU; 0 if parts of the image cannot be decoded. */
    private int mcuColumns(ImageHeader header, MemorySegment stored, long storedBytes) {
        TurboLibrary.Parts parts = LIBRARY.parts();
        if (parts == null) {
            return 0;
        }
        checkSource(stored, storedBytes);
        try {
            check((int) parts.header().invokeExact(handle, stored.address(), storedBytes));
            if ((int) parts.get().invokeExact(handle, WIDTH) != header.width
                    || (int) parts.get().invokeExact(handle, HEIGHT) != header.height) {
                return 0;
            }
            int subsampling = (int) parts.get().invokeExact(handle, SUBSAMPLING);
            return subsampling >= 0 && subsampling < MCU_COLUMNS.length ? MCU_COLUMNS[subsampling] : 0;
        } catch (CodecException e) {
            throw e;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    @Override
    public void decode(JpegHeader jpeg, ImageHeader header, MemorySegment stored, long storedBytes,
            @Nullable PixelFormat format, int denominator, ImagePart part, MemorySegment target, long targetOffset) {
        if (header.layout != PixelLayout.CMYK) {
            int pixels = format == PixelFormat.RGB && part.pixelBytes == 4 ? PIXELS_RGBX
                    : part.pixelBytes == 1 ? PIXELS_GRAY : part.pixelBytes == 3 ? PIXELS_RGB : PIXELS_RGBA;
            decompress(jpeg, header, stored, storedBytes, target, targetOffset, denominator, part, part.pixelBytes,
                    pixels);
            return;
        }
        long count = (long) part.width * part.height;
        MemorySegment raw = inks.of(4 * count);
        decompress(jpeg, header, stored, storedBytes, raw, 0, denominator, part, 4, PIXELS_CMYK);
        Inks.convert(raw, count, format, target, targetOffset);
    }

    private void decompress(JpegHeader jpeg, ImageHeader header, MemorySegment stored, long storedBytes,
            MemorySegment target, long targetOffset, int denominator, ImagePart part, int pixelBytes, int pixels) {
        checkSource(stored, storedBytes);
        Objects.checkFromIndexSize(targetOffset, (long) part.width * part.height * pixelBytes, target.byteSize());
        if (!target.isNative() || target.isReadOnly() || !target.scope().isAlive()) {
            throw new IllegalArgumentException("to " + target + ": expected native memory, alive and writable");
        }
        int width = ImageReader.scaled(header.width, denominator);
        int height = ImageReader.scaled(header.height, denominator);
        TurboLibrary.Parts parts = LIBRARY.parts();
        boolean isPart = part.width != width || part.height != height;
        try {
            if (parts != null && isPart) {
                set(scaling, 0, 1, denominator);
                check((int) parts.scale().invokeExact(handle, scaling));
                set(region, 0, part.left, part.top);
                set(region, 8, part.width, part.height);
                check((int) parts.crop().invokeExact(handle, region));
                checkDecoded((int) parts.decompress().invokeExact(handle, stored.address(), storedBytes,
                        target.address() + targetOffset, part.width * pixelBytes, pixels), jpeg);
            } else {
                checkDecoded((int) base().decompress().invokeExact(handle, stored.address(), storedBytes,
                        target.address() + targetOffset, width, width * pixelBytes, height, pixels,
                        acceptsWarnings ? 0 : STOP_ON_WARNING_FLAG), jpeg);
            }
        } catch (CodecException e) {
            throw e;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    private static void set(MemorySegment struct, long offset, int first, int second) {
        struct.set(JAVA_INT, offset, first);
        struct.set(JAVA_INT, offset + Integer.BYTES, second);
    }

    private void checkSource(MemorySegment stored, long storedBytes) {
        if (handle == 0) {
            throw new IllegalStateException("closed");
        }
        Objects.checkFromIndexSize(0, storedBytes, stored.byteSize());
        if (!stored.isNative() || !stored.scope().isAlive()) {
            throw new IllegalArgumentException("from " + stored + ": expected native memory, alive");
        }
    }

    private void checkDecoded(int status, JpegHeader jpeg) throws Throwable {
        boolean isWarning = status != 0 && (int) base().errorCode().invokeExact(handle) == WARNING;
        if (!isWarning || !acceptsWarnings) {
            check(status);
        } else if (!jpeg.hasEndAfterScan()) {
            throw JpegLibrary.cutOff();
        }
    }

    private void check(int status) {
        if (status != 0) {
            throw new CodecException("libturbojpeg says '" + message() + "'", JpegLibrary.EXPECTED);
        }
    }

    /** Returns the library's message for the last failure, without the function name. */
    @SuppressWarnings("restricted")
    private String message() {
        try {
            MemorySegment text = (MemorySegment) base().error().invokeExact(handle);
            String message = text.reinterpret(MAX_MESSAGE_BYTES).getString(0);
            return message.replaceFirst("^tj[A-Za-z0-9]+\\(\\): ", "");
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    @Override
    public void close() {
        inks.close();
        structs.close();
        if (handle != 0) {
            long closing = handle;
            handle = 0;
            try {
                int _ = (int) base().close().invokeExact(closing);
            } catch (Throwable t) {
                throw DowncallFailure.of(t);
            }
        }
    }
}
