// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.nvjpeg;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.device.DeviceUnavailableException;
import io.penstock.device.DeviceUnavailableException.Reason;
import io.penstock.device.internal.LibraryPlace;
import io.penstock.os.DowncallFailure;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * The functions of libnvjpeg ({@code nvjpeg.h}) that are called here, found at run time. Pointers and handles are
 * passed as numbers: a segment would be an object for each call. All return a status.
 *
 * @param version for example {@code 13.0.1}
 */
@SuppressWarnings("restricted")
record NvJpegLibrary(String version, MethodHandle createEx, MethodHandle destroy, MethodHandle setDevicePadding,
        MethodHandle setPinnedPadding, MethodHandle stateCreate, MethodHandle stateDestroy, MethodHandle streamCreate,
        MethodHandle streamDestroy, MethodHandle parseHeader, MethodHandle batchedSupported,
        MethodHandle batchedInitialize, MethodHandle batched, MethodHandle single) {

    static final int SUCCESS = 0;
    /** {@code nvjpegBackend_t}: the library's choice, and the JPEG engine of data-center GPUs. */
    static final int BACKEND_DEFAULT = 0;
    static final int BACKEND_HARDWARE = 3;
    /** {@code nvjpegOutputFormat_t}: interleaved RGB. */
    static final int OUTPUT_RGBI = 5;
    /** Refuses what does not follow the specification, and interpolates chroma, as libjpeg-turbo does. */
    static final int STRICT_AND_INTERPOLATED = 4 | 32;
    /** {@code nvjpegImage_t}: the addresses of four channels, then their pitches. */
    static final MemoryLayout IMAGE = MemoryLayout.structLayout(
            MemoryLayout.sequenceLayout(4, JAVA_LONG).withName("channel"),
            MemoryLayout.sequenceLayout(4, JAVA_LONG).withName("pitch"));
    static final long PITCH = IMAGE.byteOffset(MemoryLayout.PathElement.groupElement("pitch"));

    private static final String SONAME = "libnvjpeg.so.13";
    private static final String PROPERTY = "penstock.nvjpeg";
    /** {@code nvjpegStatus_t}, by number. */
    private static final List<String> STATUSES = List.of("SUCCESS", "NOT_INITIALIZED", "INVALID_PARAMETER", "BAD_JPEG",
            "JPEG_NOT_SUPPORTED", "ALLOCATOR_FAILURE", "EXECUTION_FAILED", "ARCH_MISMATCH", "INTERNAL_ERROR",
            "IMPLEMENTATION_NOT_SUPPORTED", "INCOMPLETE_BITSTREAM");

    private static final Search FOUND = search();

    /** The library, or why there is none. */
    private record Search(@Nullable NvJpegLibrary library, String absence) {
    }

    /**
     * Returns the library.
     *
     * @throws DeviceUnavailableException if it was not found; says where it was looked for
     */
    static NvJpegLibrary load() {
        if (FOUND.library == null) {
            throw new DeviceUnavailableException(Reason.NO_RUNTIME, FOUND.absence, null);
        }
        return FOUND.library;
    }

    private static Search search() {
        List<String> attempts = new ArrayList<>();
        for (LibraryPlace place : LibraryPlace.of(SONAME, PROPERTY, System.getProperty(PROPERTY), System.getenv())) {
            try {
                return new Search(of(place.library().contains("/")
                        ? SymbolLookup.libraryLookup(Path.of(place.library()), Arena.global())
                        : SymbolLookup.libraryLookup(place.library(), Arena.global())), "");
            } catch (IllegalArgumentException | NoSuchElementException e) {
                attempts.add(place.origin() + ": " + e.getMessage());
            }
        }
        return new Search(null, "nvJPEG was not found: " + String.join("; ", attempts));
    }

    private static NvJpegLibrary of(SymbolLookup lookup) {
        return new NvJpegLibrary(version(function(lookup, "nvjpegGetProperty", JAVA_INT, JAVA_LONG)),
                function(lookup, "nvjpegCreateEx", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG),
                function(lookup, "nvjpegDestroy", JAVA_LONG),
                function(lookup, "nvjpegSetDeviceMemoryPadding", JAVA_LONG, JAVA_LONG),
                function(lookup, "nvjpegSetPinnedMemoryPadding", JAVA_LONG, JAVA_LONG),
                function(lookup, "nvjpegJpegStateCreate", JAVA_LONG, JAVA_LONG),
                function(lookup, "nvjpegJpegStateDestroy", JAVA_LONG),
                function(lookup, "nvjpegJpegStreamCreate", JAVA_LONG, JAVA_LONG),
                function(lookup, "nvjpegJpegStreamDestroy", JAVA_LONG),
                function(lookup, "nvjpegJpegStreamParseHeader", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                function(lookup, "nvjpegDecodeBatchedSupported", JAVA_LONG, JAVA_LONG, JAVA_LONG),
                function(lookup, "nvjpegDecodeBatchedInitialize", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT),
                function(lookup, "nvjpegDecodeBatched", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                        JAVA_LONG),
                function(lookup, "nvjpegDecode", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG,
                        JAVA_LONG));
    }

    private static MethodHandle function(SymbolLookup lookup, String name, MemoryLayout... parameters) {
        return Linker.nativeLinker().downcallHandle(lookup.findOrThrow(name),
                FunctionDescriptor.of(JAVA_INT, parameters));
    }

    private static String version(MethodHandle getProperty) {
        List<String> parts = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(JAVA_INT);
            for (int part = 0; part < 3; part++) {
                int status = (int) getProperty.invokeExact(part, value.address());
                parts.add(status == SUCCESS ? Integer.toString(value.get(JAVA_INT, 0)) : "?");
            }
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
        return String.join(".", parts);
    }

    int create(int backend, MemorySegment handle) {
        try {
            return (int) createEx.invokeExact(backend, 0L, 0L, STRICT_AND_INTERPOLATED, handle.address());
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** A function of one or two numbers: one that creates from a handle to an address, destroys, or sets a padding. */
    static int call(MethodHandle function, long... arguments) {
        try {
            return arguments.length == 1 ? (int) function.invokeExact(arguments[0])
                    : (int) function.invokeExact(arguments[0], arguments[1]);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    int parse(long handle, long file, long bytes, long stream) {
        try {
            return (int) parseHeader.invokeExact(handle, file, bytes, stream);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Writes 0 if a parsed file can be decoded in a batch. */
    int isSupported(long handle, long stream, long answer) {
        try {
            return (int) batchedSupported.invokeExact(handle, stream, answer);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    int initialize(long handle, long state, int count) {
        try {
            return (int) batchedInitialize.invokeExact(handle, state, count, 1, OUTPUT_RGBI);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    int decodeBatch(long handle, long state, long files, long lengths, long images, long cudaStream) {
        try {
            return (int) batched.invokeExact(handle, state, files, lengths, images, cudaStream);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    int decode(long handle, long state, long file, long bytes, long image, long cudaStream) {
        try {
            return (int) single.invokeExact(handle, state, file, bytes, OUTPUT_RGBI, image, cudaStream);
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    static String name(int status) {
        return status >= 0 && status < STATUSES.size() ? "NVJPEG_STATUS_" + STATUSES.get(status)
                : "an unknown nvjpegStatus_t";
    }
}
