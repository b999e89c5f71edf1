// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaErrorInvalidKernelImage;
import static io.penstock.cuda.bindings.CudaRuntime.cudaFuncGetAttributes;
import static io.penstock.cuda.bindings.CudaRuntime.cudaLaunchKernel$address;
import static io.penstock.cuda.bindings.CudaRuntime.cudaLibraryGetKernel;
import static io.penstock.cuda.bindings.CudaRuntime.cudaLibraryLoadData;
import static io.penstock.cuda.bindings.CudaRuntime.cudaLibraryUnload;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.cuda.bindings.cudaFuncAttributes;
import io.penstock.cuda.bindings.dim3;
import io.penstock.device.DeviceException;
import io.penstock.device.Kernel;
import io.penstock.device.cuda.CudaDevice.Call;
import io.penstock.io.local.RegularFile;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The engine's kernels on one device, from the fatbin of {@code src/main/native}. The first launch loads it, so a
 * device that only copies never does.
 *
 * <p>A kernel is looked up and its code loaded on the device before its first launch: CUDA loads lazily, and would
 * otherwise load during the launch.
 */
@SuppressWarnings("restricted")
final class CudaKernels implements AutoCloseable {
    /** Property naming a file to load instead of the committed build, for kernel development. */
    private static final String PROPERTY = "penstock.kernels";
    private static final String FATBIN = "kernels.fatbin";

    private final CudaDevice device;
    private final Arena arena = Arena.ofShared();
    private final Map<String, Long> kernels = new HashMap<>();

    /** Zero until the first launch. */
    private long library;
    private boolean closed;
    private @Nullable Launcher launcher;

    CudaKernels(CudaDevice device) {
        this.device = device;
    }

    /**
     * {@code cudaLaunchKernel} with pointers as numbers, and the memory it reads: the grid, and the arguments, which
     * CUDA copies before it returns.
     */
    private static final class Launcher {
        private static final MethodHandle HANDLE = Linker.nativeLinker().downcallHandle(
                cudaLaunchKernel$address(), FunctionDescriptor.of(JAVA_INT,
                        JAVA_LONG, dim3.layout(), dim3.layout(), JAVA_LONG, JAVA_LONG, JAVA_LONG));

        private final MemorySegment grid;
        private final MemorySegment block;
        private final MemorySegment struct;
        /** Pointers to the arguments: one, to the struct. */
        private final MemorySegment pointers;

        Launcher(Arena arena) {
            grid = cube(arena);
            block = cube(arena);
            dim3.x(block, Kernel.BLOCK_THREADS);
            struct = arena.allocate(Kernel.MAX_ARGUMENT_BYTES, Long.BYTES);
            pointers = arena.allocateFrom(ADDRESS, struct);
        }

        private static MemorySegment cube(Arena arena) {
            MemorySegment cube = dim3.allocate(arena);
            dim3.x(cube, 1);
            dim3.y(cube, 1);
            dim3.z(cube, 1);
            return cube;
        }

        int launch(long kernel, int blocks, MemorySegment arguments, long bytes, long stream) {
            dim3.x(grid, blocks);
            MemorySegment.copy(arguments, 0, struct, 0, bytes);
            try {
                return (int) HANDLE.invokeExact(kernel, grid, block, pointers.address(), 0L, stream);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        }
    }

    /** One launch at a time, because launches share the {@link Launcher}'s memory. */
    synchronized void launch(Kernel kernel, int blocks, MemorySegment arguments, long stream) {
        kernel.checkLaunch(blocks, arguments);
        Long handle = kernels.get(kernel.name());
        if (handle == null) {
            handle = find(kernel.name());
        }
        device.check(Objects.requireNonNull(launcher).launch(handle, blocks, arguments, kernel.layout().byteSize(),
                stream), "cudaLaunchKernel");
    }

    private Long find(String name) {
        if (library == 0) {
            load();
        }
        try (Arena call = Arena.ofShared()) {
            MemorySegment found = call.allocate(ADDRESS);
            MemorySegment symbol = call.allocateFrom(name);
            create("cudaLibraryGetKernel", "no kernel " + name + " in the fatbin for this GPU",
                    () -> cudaLibraryGetKernel(found, MemorySegment.ofAddress(library), symbol));
            MemorySegment kernel = found.get(ADDRESS, 0);
            MemorySegment attributes = cudaFuncAttributes.allocate(call);
            create("cudaFuncGetAttributes", "kernel " + name + " cannot be loaded on this GPU",
                    () -> cudaFuncGetAttributes(attributes, kernel));
            kernels.put(name, kernel.address());
            return kernels.get(name);
        }
    }

    private void load() {
        if (closed) {
            throw new IllegalStateException("device " + device.name() + " is closed");
        }
        byte[] fatbin = read();
        try (Arena call = Arena.ofShared()) {
            MemorySegment code = call.allocate(fatbin.length, Long.BYTES);
            MemorySegment.copy(fatbin, 0, code, JAVA_BYTE, 0, fatbin.length);
            MemorySegment out = call.allocate(ADDRESS);
            MemorySegment none = MemorySegment.NULL;
            create("cudaLibraryLoadData", "the kernels cannot be loaded",
                    () -> cudaLibraryLoadData(out, code, none, none, 0, none, none, 0));
            library = out.get(ADDRESS, 0).address();
        }
        if (launcher == null) {
            launcher = new Launcher(arena);
        }
    }

    private byte[] read() {
        String file = System.getProperty(PROPERTY);
        try {
            if (file != null && !file.isBlank()) {
                return FatbinHeader.check(RegularFile.readAllBytes(Path.of(file)), file);
            }
            try (InputStream in = CudaKernels.class.getResourceAsStream(FATBIN)) {
                if (in == null) {
                    throw new IOException("no resource " + FATBIN + " beside " + CudaKernels.class.getName());
                }
                return FatbinHeader.check(in.readAllBytes(), FATBIN);
            }
        } catch (IOException e) {
            throw new DeviceException(device.name(), "cudaLibraryLoadData", cudaErrorInvalidKernelImage(),
                    "cudaErrorInvalidKernelImage", "the kernels cannot be read: " + e.getMessage(), e);
        }
    }

    /** Like {@link CudaDevice#create}, but the error message says how to fix the problem. */
    private void create(String call, String failure, IntSupplier creation) {
        try {
            device.create(call, creation);
        } catch (DeviceException e) {
            throw new DeviceException(device.name(), e.call(), e.status(), e.errorName(),
                    CudaError.text(e.status()) + "; " + failure + hint(e.errorName()), e);
        }
    }

    private static String hint(String errorName) {
        return switch (errorName) {
            case "cudaErrorInvalidKernelImage" -> ": the fatbin is damaged;"
                    + " rebuild it with src/main/native/build.sh";
            case "cudaErrorNoKernelImageForDevice" -> ": it is older than every GPU that the fatbin supports;"
                    + " src/main/native/build.sh lists those";
            case "cudaErrorUnsupportedPtxVersion", "cudaErrorJitCompilerNotFound" -> ": it is newer than every GPU that"
                    + " the fatbin has code for, and the driver is too old to compile it; update the driver";
            case "cudaErrorSymbolNotFound" -> ": the fatbin belongs to another version;"
                    + " rebuild it with src/main/native/build.sh";
            default -> "";
        };
    }

    /** Unloads the code once nothing runs any more. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        kernels.clear();
        long loaded = library;
        library = 0;
        try {
            if (loaded != 0) {
                device.release(new Call("cudaLibraryUnload",
                        () -> cudaLibraryUnload(MemorySegment.ofAddress(loaded))));
            }
        } finally {
            arena.close();
        }
    }
}
