// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaMemcpyAsync$address;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/**
 * {@code cudaMemcpyAsync} with pointers as numbers. It is the only steady-state call whose pointers change per call;
 * the generated bindings would allocate a {@code MemorySegment} for each.
 */
@SuppressWarnings("restricted")
final class CudaCopy {
    private static final MethodHandle HANDLE = Linker.nativeLinker().downcallHandle(cudaMemcpyAsync$address(),
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));

    private CudaCopy() {
    }

    static int cudaMemcpyAsync(long dst, long src, long bytes, int kind, long stream) {
        try {
            return (int) HANDLE.invokeExact(dst, src, bytes, kind, stream);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }
}
