// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.codec.MissingLibraryException;
import io.penstock.internal.Scratch;
import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * libjpeg-turbo through its TurboJPEG C API of version 2.0, which version 3 also has ({@code turbojpeg.h}); older ones
 * lack a function. Warnings are errors: where libjpeg would guess, the image is damaged.
 *
 * <p>Addresses are passed as numbers, because a slice would allocate an object per image. The owner keeps the memory
 * alive.
 */
final class TurboJpeg implements JpegDecoder {

    /** The property with the path of the library, if the system's search does not find it. */
    private static final String PROPERTY = "penstock.turbojpeg";

    private static final List<String> NAMES =
            List.of("libturbojpeg.so.0", "libturbojpeg.so", "libturbojpeg.dylib", "turbojpeg.dll");

    private static final int PIXELS_RGB = 0;
    private static final int PIXELS_GRAY = 6;
    private static final int PIXELS_RGBA = 7;
    private static final int PIXELS_CMYK = 11;
    private static final int STOP_ON_WARNING = 8192;
    private static final int MAX_MESSAGE_BYTES = 200;

    /**
     * The functions, or null and the cause if they are missing; then no decompressor is opened. The JIT compiler treats
     * the fields of a constant record as constants.
     */
    private record Library(MethodHandle open, MethodHandle close, MethodHandle decompress, MethodHandle error,
            @Nullable Throwable absence) {

        private static final FunctionDescriptor DECOMPRESS = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG,
                JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);

        @SuppressWarnings({"restricted", "NullAway"})
        static Library load() {
            if (ADDRESS.byteSize() != Long.BYTES || System.getProperty("os.name").startsWith("Windows")) {
                // There C's long, which counts the image's bytes, has 32 bits.
                return new Library(null, null, null, null, new UnsatisfiedLinkError("a system with 64-bit long"));
            }
            String chosen = System.getProperty(PROPERTY);
            Throwable absence = null;
            for (String name : chosen == null ? NAMES : List.of(chosen)) {
                try {
                    SymbolLookup lookup = name.contains(File.separator)
                            ? SymbolLookup.libraryLookup(Path.of(name), Arena.global())
                            : SymbolLookup.libraryLookup(name, Arena.global());
                    var linker = Linker.nativeLinker();
                    return new Library(
                            linker.downcallHandle(lookup.findOrThrow("tjInitDecompress"),
                                    FunctionDescriptor.of(JAVA_LONG)),
                            linker.downcallHandle(lookup.findOrThrow("tjDestroy"),
                                    FunctionDescriptor.of(JAVA_INT, JAVA_LONG)),
                            linker.downcallHandle(lookup.findOrThrow("tjDecompress2"), DECOMPRESS),
                            linker.downcallHandle(lookup.findOrThrow("tjGetErrorStr2"),
                                    FunctionDescriptor.of(ADDRESS, JAVA_LONG)),
                            null);
                } catch (IllegalArgumentException | java.util.NoSuchElementException e) {
                    absence = e;
                }
            }
            return new Library(null, null, null, null, absence);
        }
    }

    private static final Library LIBRARY = Library.load();

    private final Scratch inks = new Scratch();
    private long handle;

    private TurboJpeg(long handle) {
        this.handle = handle;
    }

    static boolean isPresent() {
        return LIBRARY.absence == null;
    }

    static TurboJpeg open() throws MissingLibraryException {
        if (!isPresent()) {
            throw new MissingLibraryException("reading JPEG", "libturbojpeg (libjpeg-turbo)", LIBRARY.absence);
        }
        try {
            long handle = (long) LIBRARY.open.invokeExact();
            if (handle == 0) {
                throw new OutOfMemoryError("libturbojpeg gives no decompressor");
            }
            return new TurboJpeg(handle);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    @Override
    public void decode(JpegHeader jpeg, ImageHeader header, MemorySegment stored, long storedBytes,
            @Nullable PixelFormat format, int denominator, MemorySegment target, long targetOffset)
            throws ImageException {
        int width = ImageReader.scaled(header.width, denominator);
        int height = ImageReader.scaled(header.height, denominator);
        if (header.layout != PixelLayout.CMYK) {
            int channels = format == null ? header.layout.channels() : format.channels();
            decompress(stored, storedBytes, target, targetOffset, width, height, channels,
                    channels == 1 ? PIXELS_GRAY : channels == 3 ? PIXELS_RGB : PIXELS_RGBA);
            return;
        }
        MemorySegment raw = inks.of(4L * width * height);
        decompress(stored, storedBytes, raw, 0, width, height, 4, PIXELS_CMYK);
        Inks.convert(raw, (long) width * height, format, target, targetOffset);
    }

    private void decompress(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset, int width,
            int height, int channels, int pixels) throws ImageException {
        if (handle == 0) {
            throw new IllegalStateException("closed");
        }
        Objects.checkFromIndexSize(0, storedBytes, stored.byteSize());
        Objects.checkFromIndexSize(targetOffset, (long) width * height * channels, target.byteSize());
        if (!stored.isNative() || !target.isNative() || target.isReadOnly() || !stored.scope().isAlive()
                || !target.scope().isAlive()) {
            throw new IllegalArgumentException("from " + stored + " to " + target + ": expected native memory, alive, "
                    + "and a target that is writable");
        }
        int status;
        try {
            status = (int) LIBRARY.decompress.invokeExact(handle, stored.address(), storedBytes,
                    target.address() + targetOffset, width, width * channels, height, pixels,
                    STOP_ON_WARNING);
        } catch (Throwable t) {
            throw unexpected(t);
        }
        if (status != 0) {
            throw new ImageException("libturbojpeg says '" + message() + "'", "a whole and undamaged JPEG");
        }
    }

    /** Returns the library's message for the last failure, without the function name. */
    @SuppressWarnings("restricted")
    private String message() {
        try {
            MemorySegment text = (MemorySegment) LIBRARY.error.invokeExact(handle);
            String message = text.reinterpret(MAX_MESSAGE_BYTES).getString(0);
            return message.replaceFirst("^tj[A-Za-z0-9]+\\(\\): ", "");
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    @Override
    public void close() {
        inks.close();
        if (handle != 0) {
            long closing = handle;
            handle = 0;
            try {
                int _ = (int) LIBRARY.close.invokeExact(closing);
            } catch (Throwable t) {
                throw unexpected(t);
            }
        }
    }

    /** Method handles declare Throwable, but these throw only what the segment checks throw. */
    private static RuntimeException unexpected(Throwable t) {
        if (t instanceof RuntimeException e) {
            return e;
        }
        if (t instanceof Error e) {
            throw e;
        }
        return new IllegalStateException(t);
    }
}
