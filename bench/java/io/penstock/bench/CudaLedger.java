// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.cuda.bindings.CudaSymbols;
import io.penstock.device.Device;
import io.penstock.device.DeviceInventory;
import io.penstock.device.DeviceInventory.DeviceInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Optional;

/**
 * Whether anything is allocated, freed or registered with CUDA between two points.
 *
 * <p>The simulated runtime counts its calls. A GPU's does not: there it is the device's free memory, and the threads
 * that were started, since the engine makes each call that creates something on a short-lived thread of its own.
 *
 * @param calls calls of allocating, freeing, creating and destroying functions; -1 where nobody counts them
 * @param threads threads that the process has started
 * @param freeBytes the device's free memory; -1 for the host's
 */
record CudaLedger(long calls, long threads, long freeBytes) {
    private static final List<String> FUNCTIONS = List.of("cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaFreeHost",
            "cudaHostRegister", "cudaHostUnregister", "cudaMallocAsync", "cudaStreamCreateWithFlags",
            "cudaStreamDestroy", "cudaEventCreateWithFlags", "cudaEventDestroy", "cudaLibraryLoadData");
    private static final Optional<MethodHandle> COUNTER = CudaSymbols.find("sim_calls").map(
            counter -> Linker.nativeLinker().downcallHandle(counter,
                    FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS)));

    /** Whether the device's runtime is the simulated one. Asked when the device is open. */
    static boolean isSimulated() {
        return COUNTER.isPresent();
    }

    static CudaLedger of(Device device) {
        long free = DeviceInventory.take().devices().stream().filter(info -> info.name().equals(device.name()))
                .mapToLong(DeviceInfo::memoryFreeBytes).findFirst().orElse(-1);
        return new CudaLedger(countedCalls(), startedThreads(), device.hostAccessible() ? -1 : free);
    }

    /** What happened from this point to now: all 0, and -1 where nobody knows. */
    CudaLedger untilNow(Device device) {
        long nowThreads = startedThreads();
        long nowCalls = countedCalls();
        CudaLedger now = of(device);
        return new CudaLedger(calls < 0 ? -1 : nowCalls - calls, nowThreads - threads,
                freeBytes < 0 ? 0 : freeBytes - now.freeBytes);
    }

    private static long startedThreads() {
        return ManagementFactory.getThreadMXBean().getTotalStartedThreadCount();
    }

    private static long countedCalls() {
        if (COUNTER.isEmpty()) {
            return -1;
        }
        long sum = 0;
        try (Arena arena = Arena.ofConfined()) {
            for (String function : FUNCTIONS) {
                MemorySegment name = arena.allocateFrom(function);
                sum += (long) COUNTER.get().invokeExact(name);
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
        return sum;
    }
}
