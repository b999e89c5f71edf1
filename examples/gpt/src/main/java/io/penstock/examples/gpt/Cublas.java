// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.gpt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceUnavailableException;
import io.penstock.device.DeviceUnavailableException.Reason;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Matrix products by cuBLAS 13, on one stream.
 *
 * <p>cuBLAS gives the same bits in every run on the same kind of GPU as long as one stream uses its handle, and its
 * workspace is not chosen anew: it gets one of its own here.
 */
@SuppressWarnings("restricted")
final class Cublas implements AutoCloseable {

    private static final String SONAME = "libcublas.so.13";
    /** What cuBLAS itself takes on a GPU of Hopper's generation. */
    private static final long WORKSPACE_BYTES = 32 << 20;

    // Of cublas_api.h and library_types.h
    private static final int CUBLAS_OP_N = 0;
    private static final int CUBLAS_OP_T = 1;
    private static final int CUDA_R_32F = 0;
    private static final int CUBLAS_COMPUTE_32F = 68;
    private static final int CUBLAS_GEMM_DEFAULT = -1;

    private final Arena arena = Arena.ofConfined();
    private final CudaCalls cublas = new CudaCalls(find(arena), "cublasGetStatusName");
    private final MethodHandle gemm = cublas.function("cublasGemmStridedBatchedEx", JAVA_LONG, JAVA_INT, JAVA_INT,
            JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS,
            JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG,
            JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS,
            JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT);
    private final DeviceBuffer workspace;
    private final long handle;
    private final MemorySegment zero = arena.allocateFrom(JAVA_FLOAT, 0);
    private final MemorySegment one = arena.allocateFrom(JAVA_FLOAT, 1);

    /**
     * A row-major matrix in device memory, or one for each product of a batch.
     *
     * @param rowStride floats from a row to the next
     * @param batchStride floats from a product's matrix to that of the next
     * @param isTransposed whether the matrix is the transpose of what is in memory
     */
    record Operand(long address, int rowStride, long batchStride, boolean isTransposed) {

        static Operand of(long address, int columns) {
            return new Operand(address, columns, 0, false);
        }

        Operand transposed() {
            return new Operand(address, rowStride, batchStride, !isTransposed);
        }

        private int operation() {
            return isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
        }
    }

    /**
     * Loads cuBLAS for the calling thread's current device.
     *
     * @throws DeviceUnavailableException if there is no cuBLAS 13
     */
    Cublas(Device device) {
        MemorySegment created = arena.allocate(ADDRESS);
        cublas.call("cublasCreate", cublas.function("cublasCreate_v2", ADDRESS), created);
        handle = created.get(JAVA_LONG, 0);
        workspace = device.allocate(WORKSPACE_BYTES);
    }

    /** Names the stream of all products. */
    void useStream(long stream) {
        cublas.call("cublasSetStream", cublas.function("cublasSetStream_v2", JAVA_LONG, JAVA_LONG), handle, stream);
        // Behind the stream, which resets the workspace
        cublas.call("cublasSetWorkspace", cublas.function("cublasSetWorkspace_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG),
                handle, workspace.address(), WORKSPACE_BYTES);
    }

    private static SymbolLookup find(Arena arena) {
        for (String library : candidates()) {
            try {
                return library.contains("/") ? SymbolLookup.libraryLookup(Path.of(library), arena)
                        : SymbolLookup.libraryLookup(library, arena);
            } catch (IllegalArgumentException e) {
                // The next one
            }
        }
        throw new DeviceUnavailableException(Reason.NO_RUNTIME, "no cuBLAS 13, looked for " + candidates()
                + ": install it, or name its " + SONAME + " by PENSTOCK_CUBLAS", null);
    }

    private static List<String> candidates() {
        String named = System.getenv("PENSTOCK_CUBLAS");
        if (named != null) {
            return List.of(named);
        }
        List<String> candidates = new ArrayList<>(List.of(SONAME));
        for (String root : List.of("CUDA_HOME", "CUDA_PATH")) {
            if (System.getenv(root) != null) {
                candidates.add(System.getenv(root) + "/lib64/" + SONAME);
            }
        }
        candidates.add("/usr/local/cuda/lib64/" + SONAME);
        return candidates;
    }

    /** Enqueues {@code count} products: c[m, n] = a[m, k] · b[k, n]. */
    void multiply(int m, int n, int k, Operand a, Operand b, Operand c, int count) {
        multiply(m, n, k, a, b, zero, c, count);
    }

    /** Enqueues {@code count} products: c[m, n] += a[m, k] · b[k, n]. */
    void multiplyAndAdd(int m, int n, int k, Operand a, Operand b, Operand c, int count) {
        multiply(m, n, k, a, b, one, c, count);
    }

    /**
     * c = a · b + beta · c. cuBLAS takes matrices by columns, where a row-major matrix is its transpose. So it is asked
     * for cᵀ = bᵀ · aᵀ + beta · cᵀ.
     */
    private void multiply(int m, int n, int k, Operand a, Operand b, MemorySegment beta, Operand c, int count) {
        try {
            cublas.check((int) gemm.invokeExact(handle, b.operation(), a.operation(), n, m, k, one,
                    b.address, CUDA_R_32F, b.rowStride, b.batchStride,
                    a.address, CUDA_R_32F, a.rowStride, a.batchStride, beta,
                    c.address, CUDA_R_32F, c.rowStride, c.batchStride, count, CUBLAS_COMPUTE_32F,
                    CUBLAS_GEMM_DEFAULT), "cublasGemmStridedBatchedEx");
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    @Override
    public void close() {
        cublas.call("cublasDestroy", cublas.function("cublasDestroy_v2", JAVA_LONG), handle);
        workspace.close();
        arena.close();
    }
}
