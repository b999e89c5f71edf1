// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.cuda.bindings.CudaSymbols;
import io.penstock.testing.NativeLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;

/**
 * The simulated CUDA runtime, {@code src/test/native/sim}: built by tests, steered by the checks that run over it.
 * {@code sim.h} says what it simulates and what it calls a violation.
 */
public final class CudaSimulator {
    /** What can be open. */
    public enum Kind { STREAM, EVENT, DEVICE_MEMORY, PINNED_MEMORY }

    private static final Path SOURCES = Path.of("src/test/native/sim");
    private static final int TEXT_BYTES = 4096;
    private static final NativeLibrary FUNCTIONS = new NativeLibrary(() -> CudaSymbols::find);

    private CudaSimulator() {
    }

    /** Compiles it under the library's own name; a machine without a C compiler skips the test. */
    public static Path build(Path folder, String... options) throws IOException, InterruptedException {
        return NativeLibrary.compileC(folder.resolve(CudaLibrary.SONAME), SOURCES, options);
    }

    /** Compiles the kernels that it runs on its streams' threads, for the variable {@code SIM_CUDA_KERNELS}. */
    public static Path buildKernels(Path folder) throws IOException, InterruptedException {
        return NativeLibrary.compileCpp(folder.resolve("kernels.so").toAbsolutePath(), SOURCES.resolve("outputs.cpp"),
                "-Isrc/main/native");
    }

    /** Every function that the engine calls. */
    public static List<String> functions() {
        return CudaLibrary.FUNCTIONS;
    }

    // What follows works once CUDA is loaded.

    private static long slowness = 1;

    public static long slowness() {
        return slowness;
    }

    /** Back to one device without faults or delays, and nothing seen. What is open stays so. */
    public static void reset() {
        call("sim_reset", null);
    }

    /** Makes this function alone return a status from now on; an empty name ends that. */
    public static void fail(String function, int status) {
        failAfter("", 0, 0, 0);
        if (!function.isEmpty()) {
            failAfter(function, status, 0, Long.MAX_VALUE);
        }
    }

    /** Makes a function, beside others, return a status some times after it has done as it should some times. */
    public static void failAfter(String function, int status, long skip, long times) {
        try (Arena arena = Arena.ofConfined()) {
            call("sim_fail", null, arena.allocateFrom(function), status, skip, times);
        }
    }

    public static void setDriver(int version) {
        call("sim_set_driver", null, version);
    }

    public static void setDevices(int count) {
        call("sim_set_devices", null, count);
    }

    /** What may be allocated of each device's memory. */
    public static void setDeviceBytes(long bytes) {
        call("sim_set_device_bytes", null, bytes);
    }

    /** What may be pinned for each device. */
    public static void setPinnedBytes(long bytes) {
        call("sim_set_pinned_bytes", null, bytes);
    }

    /** How long copies take; 0 for no time. */
    public static void setSpeed(long bytesPerMicro, long latencyMicros) {
        call("sim_set_bytes_per_micro", null, bytesPerMicro);
        call("sim_set_latency_micros", null, slowness * latencyMicros);
    }

    /**
     * Sets the device's clock. From now on work takes the time that the test has said by this clock, and none really.
     *
     * @param nanos from 0; -1 goes back to the machine's clock
     */
    public static void setNow(long nanos) {
        call("sim_set_now_nanos", null, nanos);
    }

    /** Holds copies to devices back while they read their source, or lets them go on. */
    public static void holdCopies(boolean hold) {
        call("sim_set_held", null, hold ? 1 : 0);
    }

    /** Waits until so many copies have begun to read their source, or have ended, since the last reset. */
    public static void awaitCopies(long copies, boolean ended) {
        while ((long) call("sim_copies", ValueLayout.JAVA_LONG, ended ? 1 : 0) < copies) {
            Thread.yield();
        }
    }

    /** Lets nvJPEG decode batches by an engine, which writes at once and takes no progressive files. */
    public static void setEngine(boolean on) {
        call("sim_set_engine", null, on ? 1 : 0);
    }

    /** Makes copies and kernels take so many times as long as they are told. */
    public static void slowDown(int factor) {
        slowness = factor;
    }

    /** How many violations were seen since the last reset. */
    public static int violations() {
        return (int) call("sim_violations", ValueLayout.JAVA_INT, MemorySegment.NULL, 0L);
    }

    /** The violations in words, a line each. */
    public static String violationText() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(TEXT_BYTES);
            call("sim_violations", ValueLayout.JAVA_INT, text, text.byteSize());
            return text.getString(0);
        }
    }

    /** How often a function was called since the last reset. */
    public static long calls(String function) {
        try (Arena arena = Arena.ofConfined()) {
            return (long) call("sim_calls", ValueLayout.JAVA_LONG, arena.allocateFrom(function));
        }
    }

    /** How many of a kind are open. */
    public static int open(Kind kind) {
        return (int) call("sim_open", ValueLayout.JAVA_INT, kind.ordinal());
    }

    public static int currentDevice() {
        return (int) call("sim_get_current_device", ValueLayout.JAVA_INT);
    }

    /** How often a thread waited for what another device does than the one that is current on it. */
    public static long foreignWaits() {
        return (long) call("sim_foreign_waits", ValueLayout.JAVA_LONG);
    }

    /** The device that a handle or allocation was made on. */
    public static int device(long handle) {
        return (int) origin(handle);
    }

    /** The flags that a handle or allocation was made with. */
    public static int flags(long handle) {
        return (int) (origin(handle) >> 32);
    }

    private static long origin(long handle) {
        return (long) call("sim_origin", ValueLayout.JAVA_LONG, handle);
    }

    /** Announces that the CPU writes, or reads, pinned memory. */
    public static void hostUses(MemorySegment memory, boolean writes) {
        call("sim_host_uses", null, memory, memory.byteSize(), writes ? 1 : 0);
    }

    /** Enqueues a kernel that reads device memory for a time. */
    public static void launchReader(long stream, long address, long bytes, long micros) {
        assertEquals(0, call("sim_launch", ValueLayout.JAVA_INT, stream, address, bytes,
                slowness * micros));
    }

    /**
     * Begins to capture the kernels that are launched on a stream.
     *
     * @param global whether calls are forbidden to all threads meanwhile, as by default
     */
    public static void beginCapture(long stream, boolean global) {
        call("sim_begin_capture", null, stream, global ? 1 : 0);
    }

    /** Ends a capture and returns the graph. */
    public static MemorySegment endCapture(long stream) {
        return (MemorySegment) call("sim_end_capture", ValueLayout.ADDRESS, stream);
    }

    /** Enqueues the kernels of a graph. */
    public static void launchGraph(MemorySegment graph, long stream) {
        assertEquals(0, call("sim_launch_graph", ValueLayout.JAVA_INT, graph, stream));
    }

    /** Frees a graph. */
    public static void freeGraph(MemorySegment graph) {
        call("sim_free_graph", null, graph);
    }

    /** Enqueues a kernel that ends with a sticky error. */
    public static void launchFault(long stream, int status) {
        assertEquals(0, call("sim_launch_fault", ValueLayout.JAVA_INT, stream, status));
    }

    private static Object call(String function, MemoryLayout result, Object... arguments) {
        return FUNCTIONS.call(function, result, arguments);
    }
}
