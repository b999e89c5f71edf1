// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.device.DeviceUnavailableException.Reason.INCOMPLETE_RUNTIME;
import static io.penstock.device.DeviceUnavailableException.Reason.NO_NATIVE_ACCESS;
import static io.penstock.device.DeviceUnavailableException.Reason.NO_RUNTIME;
import static io.penstock.device.DeviceUnavailableException.Reason.UNSUPPORTED_PLATFORM;
import static io.penstock.device.DeviceUnavailableException.Reason.WRONG_RUNTIME_VERSION;

import io.penstock.cuda.bindings.CudaSymbols;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.device.DeviceUnavailableException.Reason;
import io.penstock.device.internal.LibraryPlace;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The CUDA runtime library, found and loaded once per class loader.
 *
 * <p>The bindings match CUDA 13; other major versions use the same names for functions and structs with other layouts.
 * So a library is first opened to check its version and functions, and can be closed again. Only a matching one is
 * given to the bindings, which use no other, whatever else the process has loaded. The version is in CUDA's encoding,
 * 13000 for 13.0.
 */
@SuppressWarnings("restricted")
record CudaLibrary(Path path, int version) {
    static final int MAJOR = 13;
    static final String SONAME = "libcudart.so." + MAJOR;
    static final String PROPERTY = "penstock.cudart";

    /** Every function that this package calls. */
    static final List<String> FUNCTIONS = List.of(
            "cudaDeviceGetAttribute", "cudaDeviceGetPCIBusId", "cudaDriverGetVersion", "cudaEventCreateWithFlags",
            "cudaEventDestroy", "cudaEventElapsedTime", "cudaEventQuery", "cudaEventRecord", "cudaEventSynchronize",
            "cudaFree", "cudaFreeHost", "cudaFuncGetAttributes", "cudaGetDeviceCount", "cudaGetDeviceProperties",
            "cudaGetErrorName", "cudaGetErrorString", "cudaHostAlloc", "cudaLaunchKernel", "cudaLibraryGetKernel",
            "cudaLibraryLoadData", "cudaLibraryUnload", "cudaMalloc", "cudaMemGetInfo", "cudaMemcpyAsync",
            "cudaRuntimeGetVersion", "cudaSetDevice", "cudaStreamCreateWithFlags", "cudaStreamDestroy",
            "cudaStreamQuery", "cudaStreamSynchronize", "cudaStreamWaitEvent", CudaCalls.EXCHANGE_CAPTURE_MODE);

    private static final Linker LINKER = Linker.nativeLinker();
    /** {@code Dl_info} of {@code dladdr(3)}. */
    private static final StructLayout DL_INFO = MemoryLayout.structLayout(
            ValueLayout.ADDRESS.withName("dli_fname"),
            ValueLayout.ADDRESS.withName("dli_fbase"),
            ValueLayout.ADDRESS.withName("dli_sname"),
            ValueLayout.ADDRESS.withName("dli_saddr"));

    /** A location without a usable library. */
    private static final class Rejected extends Exception {
        private static final long serialVersionUID = 1L;
        private final Reason reason;

        Rejected(Reason reason, String message, @Nullable Throwable cause) {
            super(message, cause);
            this.reason = reason;
        }
    }

    /** A class loader can load a library only once, so the outcome is kept: the library, or why there is none. */
    private static final class Once {
        private static final @Nullable CudaLibrary LIBRARY;
        private static final @Nullable DeviceUnavailableException FAILURE;

        static {
            CudaLibrary library = null;
            DeviceUnavailableException failure = null;
            try {
                library = search(LibraryPlace.of(SONAME, PROPERTY, System.getProperty(PROPERTY), System.getenv()));
            } catch (DeviceUnavailableException e) {
                failure = e;
            } catch (IllegalCallerException e) {
                failure = new DeviceUnavailableException(NO_NATIVE_ACCESS, "this JVM may not call native code: start it"
                        + " with --enable-native-access=" + (CudaLibrary.class.getModule().isNamed()
                        ? CudaLibrary.class.getModule().getName() : "ALL-UNNAMED"), e);
            }
            LIBRARY = library;
            FAILURE = failure;
        }
    }

    /** Returns the loaded library; throws {@link DeviceUnavailableException} if there is none, or not a usable one. */
    static CudaLibrary load() {
        DeviceUnavailableException failure = Once.FAILURE;
        if (failure != null) {
            throw new DeviceUnavailableException(failure.reason(), String.valueOf(failure.getMessage()), failure);
        }
        return Objects.requireNonNull(Once.LIBRARY);
    }

    private static CudaLibrary search(List<LibraryPlace> places) {
        String os = System.getProperty("os.name");
        if (!os.equals("Linux") || ValueLayout.ADDRESS.byteSize() != Long.BYTES) {
            throw new DeviceUnavailableException(UNSUPPORTED_PLATFORM,
                    "CUDA is supported on 64-bit Linux, this is " + os + " on " + System.getProperty("os.arch"), null);
        }
        List<String> attempts = new ArrayList<>();
        Rejected worst = null;
        for (LibraryPlace place : places) {
            try {
                return open(place);
            } catch (Rejected e) {
                attempts.add(place.origin() + ": " + e.getMessage());
                if (worst == null || worst.reason == NO_RUNTIME) {
                    worst = e;
                }
            }
        }
        String advice = places.getFirst().binding()
                ? "; correct that setting, or remove it to search the usual places"
                : "; install the CUDA " + MAJOR + " runtime, or name its " + SONAME
                        + " with -Dpenstock.cudart=FILE or PENSTOCK_CUDART";
        throw new DeviceUnavailableException(Objects.requireNonNull(worst).reason,
                "no usable CUDA " + MAJOR + " runtime library: " + String.join("; ", attempts) + advice, worst);
    }

    private static CudaLibrary open(LibraryPlace place) throws Rejected {
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup functions = lookup(place.library(), arena);
            MemorySegment getVersion = functions.find("cudaRuntimeGetVersion").orElseThrow(() -> new Rejected(
                    INCOMPLETE_RUNTIME, place.library() + " is not a CUDA runtime library", null));
            Path path = fileOf(getVersion, place.library(), arena);
            int version = version(getVersion, arena);
            if (version / 1000 != MAJOR) {
                throw new Rejected(WRONG_RUNTIME_VERSION,
                        path + " is CUDA " + versionText(version) + ", expected CUDA " + MAJOR, null);
            }
            List<String> missing = FUNCTIONS.stream().filter(name -> functions.find(name).isEmpty()).toList();
            if (!missing.isEmpty()) {
                throw new Rejected(INCOMPLETE_RUNTIME, path + " lacks " + String.join(", ", missing), null);
            }
            CudaSymbols.use(SymbolLookup.libraryLookup(path, Arena.global()));
            return new CudaLibrary(path, version);
        } catch (UnsatisfiedLinkError e) {
            throw new Rejected(NO_RUNTIME, String.valueOf(e.getMessage()), e);
        }
    }

    private static SymbolLookup lookup(String library, Arena arena) throws Rejected {
        if (!library.contains("/")) {
            try {
                return SymbolLookup.libraryLookup(library, arena);
            } catch (IllegalArgumentException e) {
                throw new Rejected(NO_RUNTIME, "it finds no " + library, e);
            }
        }
        Path path = Path.of(library).toAbsolutePath();
        if (!Files.isRegularFile(path)) {
            throw new Rejected(NO_RUNTIME, "there is no file " + path, null);
        }
        try {
            return SymbolLookup.libraryLookup(path, arena);
        } catch (IllegalArgumentException e) {
            System.load(path.toString());               // fails too, and says why
            throw new Rejected(NO_RUNTIME, path + " cannot be loaded", e);
        }
    }

    /** The path of the library that contains a function, from the system loader. */
    private static Path fileOf(MemorySegment function, String library, Arena arena) throws Rejected {
        if (library.contains("/")) {
            return Path.of(library).toAbsolutePath();
        }
        MemorySegment dladdr = LINKER.defaultLookup().find("dladdr").orElseThrow(
                () -> new Rejected(NO_RUNTIME, library + " was found; dladdr, which knows its path, was not", null));
        MemorySegment info = arena.allocate(DL_INFO);
        try {
            int found = (int) LINKER.downcallHandle(dladdr, FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS)).invokeExact(function, info);
            if (found == 0) {
                throw new Rejected(NO_RUNTIME, "dladdr does not know where " + library + " is", null);
            }
        } catch (RuntimeException | Error | Rejected e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
        return Path.of(info.get(ValueLayout.ADDRESS, 0).reinterpret(Integer.MAX_VALUE).getString(0)).toAbsolutePath();
    }

    private static int version(MemorySegment getVersion, Arena arena) throws Rejected {
        MemorySegment version = arena.allocate(ValueLayout.JAVA_INT);
        int status;
        try {
            status = (int) LINKER.downcallHandle(getVersion, FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.ADDRESS)).invokeExact(version);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
        if (status != 0) {
            throw new Rejected(INCOMPLETE_RUNTIME, "cudaRuntimeGetVersion failed with " + status, null);
        }
        return version.get(ValueLayout.JAVA_INT, 0);
    }

    /** A version in readable form: 13.0 for 13000. */
    static String versionText(int version) {
        return version / 1000 + "." + version % 1000 / 10;
    }
}
