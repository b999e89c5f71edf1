// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.device.Device;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.util.Objects;

/**
 * The kernels of {@code gpt.cu} on the current device, launched on one stream. The functions of CUDA are those of the
 * runtime library that Penstock drives the device through.
 */
final class CudaKernels implements AutoCloseable {

    /** Threads of a block: {@code BLOCK_THREADS} in {@code kernel.cuh}. */
    private static final int BLOCK_THREADS = 256;
    private static final long MAX_BLOCKS = 1 << 20;
    private static final int MAX_WORDS = 16;
    private static final String FATBIN = "gpt.fatbin";

    private static final StructLayout DIM3 = MemoryLayout.structLayout(
            JAVA_INT.withName("x"), JAVA_INT.withName("y"), JAVA_INT.withName("z"));

    private final Arena arena = Arena.ofConfined();
    private final CudaCalls cuda;
    private final MethodHandle getKernel;
    private final MethodHandle launchKernel;
    private final MemorySegment library;
    private final long stream;

    private final MemorySegment grid = arena.allocateFrom(JAVA_INT, 1, 1, 1);
    private final MemorySegment block = arena.allocateFrom(JAVA_INT, BLOCK_THREADS, 1, 1);
    /** A kernel's only argument, a struct, and the array of pointers to arguments. CUDA copies it at the launch. */
    private final MemorySegment struct = arena.allocate(JAVA_LONG, MAX_WORDS);
    private final MemorySegment arguments = arena.allocateFrom(ADDRESS, struct);

    /** A function of the fatbin. */
    final class Kernel {

        private final String name;
        private final long handle;

        private Kernel(String name, long handle) {
            this.name = name;
            this.handle = handle;
        }

        /** Launches a kernel that spreads {@code items} over threads. */
        void each(long items, long... words) {
            blocks(Math.ceilDiv(items, BLOCK_THREADS), words);
        }

        /** Launches a kernel that gives each of {@code pieces} to a block. */
        void blocks(long pieces, long... words) {
            grid.set(JAVA_INT, 0, (int) Math.clamp(pieces, 1, MAX_BLOCKS));
            MemorySegment.copy(words, 0, struct, JAVA_LONG, 0, words.length);
            try {
                cuda.check((int) launchKernel.invokeExact(handle, grid, block, arguments, 0L, stream), name);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        }
    }

    /** Loads the fatbin on the calling thread's current device. */
    CudaKernels(Device device, long stream) {
        this.stream = stream;
        cuda = new CudaCalls(device.functions(), "cudaGetErrorName");
        getKernel = cuda.function("cudaLibraryGetKernel", ADDRESS, ADDRESS, ADDRESS);
        launchKernel = cuda.function("cudaLaunchKernel", JAVA_LONG, DIM3, DIM3, ADDRESS, JAVA_LONG, JAVA_LONG);
        MemorySegment found = arena.allocate(ADDRESS);
        MemorySegment none = MemorySegment.NULL;
        try (InputStream in = CudaKernels.class.getResourceAsStream(FATBIN)) {
            byte[] fatbin = Objects.requireNonNull(in, FATBIN).readAllBytes();
            MemorySegment code = arena.allocate(fatbin.length, JAVA_LONG.byteSize());
            code.copyFrom(MemorySegment.ofArray(fatbin));
            cuda.call("cudaLibraryLoadData", cuda.function("cudaLibraryLoadData", ADDRESS, ADDRESS, ADDRESS, ADDRESS,
                    JAVA_INT, ADDRESS, ADDRESS, JAVA_INT), found, code, none, none, 0, none, none, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        library = found.get(ADDRESS, 0);
    }

    Kernel find(String name) {
        MemorySegment found = arena.allocate(ADDRESS);
        cuda.call(name, getKernel, found, library, arena.allocateFrom(name));
        return new Kernel(name, found.get(ADDRESS, 0).address());
    }

    @Override
    public void close() {
        cuda.call("cudaLibraryUnload", cuda.function("cudaLibraryUnload", ADDRESS), library);
        arena.close();
    }
}
