// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaMemcpyAsync$address;
import static io.penstock.cuda.bindings.CudaRuntime.cudaStreamCaptureModeRelaxed;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.cuda.bindings.CudaSymbols;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/**
 * Calls without the generated bindings: {@code cudaMemcpyAsync}, the only steady-state call whose pointers change, with
 * pointers as numbers, because the bindings would allocate a {@code MemorySegment} for each; and one that the bindings
 * lack.
 */
@SuppressWarnings("restricted")
final class CudaCalls {
    static final String EXCHANGE_CAPTURE_MODE = "cudaThreadExchangeStreamCaptureMode";

    private static final MethodHandle COPY = Linker.nativeLinker().downcallHandle(cudaMemcpyAsync$address(),
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle EXCHANGE = Linker.nativeLinker().downcallHandle(
            CudaSymbols.find(EXCHANGE_CAPTURE_MODE).orElseThrow(), FunctionDescriptor.of(JAVA_INT, ADDRESS));

    static int cudaMemcpyAsync(long dst, long src, long bytes, int kind, long stream) {
        try {
            return (int) COPY.invokeExact(dst, src, bytes, kind, stream);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /**
     * Exempts the calling thread from what the capture of a graph forbids to all threads by default: for example,
     * {@code cudaEventQuery} would fail here and end the capture there.
     */
    static int ignoreCaptures() {
        try (Arena arena = Arena.ofConfined()) {
            return (int) EXCHANGE.invoke(arena.allocateFrom(JAVA_INT, cudaStreamCaptureModeRelaxed()));
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }
}
