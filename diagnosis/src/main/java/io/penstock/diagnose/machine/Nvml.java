// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.machine;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.os.DowncallFailure;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * NVIDIA's management library, {@code libnvidia-ml.so.1} of the driver: the few functions that are called here, by the
 * prototypes of {@code nvml.h}. A function that an older driver lacks, or a value that a device does not support, gives
 * NaN. For one thread at a time; a call may block for as long as the driver does.
 */
@SuppressWarnings("restricted")
final class Nvml {

    /** NVML's own error. */
    static final class NvmlException extends Exception {

        private static final long serialVersionUID = 1;

        NvmlException(String message) {
            super(message);
        }
    }

    private static final String SONAME = "libnvidia-ml.so.1";
    private static final String PROPERTY = "penstock.nvml";

    private static final int SUCCESS = 0;
    private static final int FUNCTION_NOT_FOUND = 13;
    private static final int GPU_IS_LOST = 15;
    /** {@code NVML_TEMPERATURE_GPU}, {@code NVML_CLOCK_SM}, {@code NVML_PCIE_UTIL_TX_BYTES}, {@code …_RX_BYTES}. */
    private static final int TEMPERATURE_GPU = 0;
    private static final int CLOCK_SM = 1;
    private static final int PCIE_SENT = 0;
    private static final int PCIE_RECEIVED = 1;
    /** {@code nvmlMemoryErrorType_t}; the counter that starts with the driver is 0. */
    private static final int CORRECTED = 0;
    private static final int UNCORRECTED = 1;
    private static final int VOLATILE = 0;
    private static final int NAME_BYTES = 96;
    private static final int MOST_PROCESSES = 64;
    private static final double UNKNOWN = Double.NaN;

    /** {@code nvmlUtilization_t}, percent. */
    private static final StructLayout UTILIZATION = MemoryLayout.structLayout(JAVA_INT.withName("gpu"),
            JAVA_INT.withName("memory"));
    /**
     * {@code nvmlMemory_v2_t}, bytes. What the driver reserves is no part of what is used, as {@code nvidia-smi}
     * counts; in version 1 it is.
     */
    private static final StructLayout MEMORY = MemoryLayout.structLayout(JAVA_INT.withName("version"),
            MemoryLayout.paddingLayout(4), JAVA_LONG.withName("total"), JAVA_LONG.withName("reserved"),
            JAVA_LONG.withName("free"), JAVA_LONG.withName("used"));
    /** {@code nvmlMemory_v2}: the size of the struct and its version. */
    private static final int MEMORY_VERSION = (int) MEMORY.byteSize() | 2 << 24;
    /** {@code nvmlProcessInfo_v2_t}, which version 3 of the call fills too. */
    private static final StructLayout PROCESS = MemoryLayout.structLayout(JAVA_INT.withName("pid"),
            MemoryLayout.paddingLayout(4), JAVA_LONG.withName("usedGpuMemory"), JAVA_INT.withName("gpuInstanceId"),
            JAVA_INT.withName("computeInstanceId"));
    private static final long GPU = UTILIZATION.byteOffset(PathElement.groupElement("gpu"));
    private static final long TOTAL = MEMORY.byteOffset(PathElement.groupElement("total"));
    private static final long USED = MEMORY.byteOffset(PathElement.groupElement("used"));
    private static final long PID = PROCESS.byteOffset(PathElement.groupElement("pid"));
    private static final long PROCESS_MEMORY = PROCESS.byteOffset(PathElement.groupElement("usedGpuMemory"));

    private final SymbolLookup lookup;
    private final MethodHandle errorText;
    private final @Nullable MethodHandle utilization;
    private final @Nullable MethodHandle memory;
    private final @Nullable MethodHandle processes;
    private final @Nullable MethodHandle power;
    private final @Nullable MethodHandle temperature;
    private final @Nullable MethodHandle clock;
    private final @Nullable MethodHandle maximumClock;
    private final @Nullable MethodHandle throttle;
    private final @Nullable MethodHandle errors;
    private final @Nullable MethodHandle traffic;
    private final @Nullable MethodHandle generation;
    private final @Nullable MethodHandle maximumGeneration;
    private final @Nullable MethodHandle lanes;
    private final @Nullable MethodHandle maximumLanes;
    /** For results, as long as the library. */
    private final MemorySegment out = Arena.global().allocate(MEMORY);
    private final MemorySegment infos = Arena.global().allocate(MemoryLayout.sequenceLayout(MOST_PROCESSES, PROCESS));

    private Nvml(SymbolLookup lookup) throws NvmlException {
        this.lookup = lookup;
        this.errorText = Linker.nativeLinker().downcallHandle(required("nvmlErrorString"),
                FunctionDescriptor.of(ValueLayout.ADDRESS.withTargetLayout(
                        MemoryLayout.sequenceLayout(NAME_BYTES, ValueLayout.JAVA_BYTE)), JAVA_INT));
        this.utilization = function("nvmlDeviceGetUtilizationRates", JAVA_LONG, JAVA_LONG);
        this.memory = function("nvmlDeviceGetMemoryInfo_v2", JAVA_LONG, JAVA_LONG);
        this.processes = function("nvmlDeviceGetComputeRunningProcesses_v3", JAVA_LONG, JAVA_LONG, JAVA_LONG);
        this.power = function("nvmlDeviceGetPowerUsage", JAVA_LONG, JAVA_LONG);
        this.temperature = function("nvmlDeviceGetTemperature", JAVA_LONG, JAVA_INT, JAVA_LONG);
        this.clock = function("nvmlDeviceGetClockInfo", JAVA_LONG, JAVA_INT, JAVA_LONG);
        this.maximumClock = function("nvmlDeviceGetMaxClockInfo", JAVA_LONG, JAVA_INT, JAVA_LONG);
        this.throttle = function("nvmlDeviceGetCurrentClocksThrottleReasons", JAVA_LONG, JAVA_LONG);
        this.errors = function("nvmlDeviceGetTotalEccErrors", JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG);
        this.traffic = function("nvmlDeviceGetPcieThroughput", JAVA_LONG, JAVA_INT, JAVA_LONG);
        this.generation = function("nvmlDeviceGetCurrPcieLinkGeneration", JAVA_LONG, JAVA_LONG);
        this.maximumGeneration = function("nvmlDeviceGetMaxPcieLinkGeneration", JAVA_LONG, JAVA_LONG);
        this.lanes = function("nvmlDeviceGetCurrPcieLinkWidth", JAVA_LONG, JAVA_LONG);
        this.maximumLanes = function("nvmlDeviceGetMaxPcieLinkWidth", JAVA_LONG, JAVA_LONG);
    }

    /**
     * Loads and initializes the library: that of the driver, or the one that the property {@code penstock.nvml} names.
     *
     * @throws NvmlException if it is absent or fails; says which
     */
    static Nvml load() throws NvmlException {
        return load(System.getProperty(PROPERTY, SONAME));
    }

    /** Loads a library by its name, or by its path if that contains a slash. */
    static Nvml load(String library) throws NvmlException {
        SymbolLookup lookup;
        try {
            lookup = library.contains("/") ? SymbolLookup.libraryLookup(Path.of(library), Arena.global())
                    : SymbolLookup.libraryLookup(library, Arena.global());
        } catch (IllegalArgumentException | IllegalCallerException e) {
            throw new NvmlException("no NVML: " + e.getMessage());
        }
        var nvml = new Nvml(lookup);
        MethodHandle begin = nvml.function("nvmlInit_v2");
        try {
            nvml.check("nvmlInit_v2", begin == null ? FUNCTION_NOT_FOUND : (int) begin.invokeExact());
        } catch (NvmlException e) {
            throw e;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
        return nvml;
    }

    private MemorySegment required(String name) throws NvmlException {
        return lookup.find(name).orElseThrow(() -> new NvmlException("no NVML: the library has no " + name));
    }

    /** A function that returns a status; null if this driver does not have it. */
    private @Nullable MethodHandle function(String name, MemoryLayout... parameters) {
        return lookup.find(name).map(address -> Linker.nativeLinker().downcallHandle(address,
                FunctionDescriptor.of(JAVA_INT, parameters))).orElse(null);
    }

    private void check(String what, int status) throws NvmlException {
        if (status != SUCCESS) {
            throw new NvmlException(what + ": " + text(status));
        }
    }

    private String text(int status) {
        try {
            MemorySegment text = (MemorySegment) errorText.invokeExact(status);
            return text.equals(MemorySegment.NULL) ? "status " + status : text.getString(0);
        } catch (IndexOutOfBoundsException _) {
            return "status " + status;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    // ---- devices

    int devices() throws NvmlException {
        check("nvmlDeviceGetCount_v2", call(function("nvmlDeviceGetCount_v2", JAVA_LONG)));
        return out.get(JAVA_INT, 0);
    }

    /** The handle of a device by its index in the order of the bus. */
    long device(int index) throws NvmlException {
        MethodHandle byIndex = function("nvmlDeviceGetHandleByIndex_v2", JAVA_INT, JAVA_LONG);
        try {
            check("device " + index, byIndex == null ? FUNCTION_NOT_FOUND
                    : (int) byIndex.invokeExact(index, out.address()));
        } catch (NvmlException e) {
            throw e;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
        return out.get(JAVA_LONG, 0);
    }

    /** The handle of a device, or of a part of one, by its UUID: {@code GPU-…}, {@code MIG-…}. */
    long device(String uuid) throws NvmlException {
        MethodHandle byUuid = function("nvmlDeviceGetHandleByUUID", JAVA_LONG, JAVA_LONG);
        try (Arena arena = Arena.ofConfined()) {
            check("device " + uuid, byUuid == null ? FUNCTION_NOT_FOUND
                    : (int) byUuid.invokeExact(arena.allocateFrom(uuid).address(), out.address()));
        } catch (NvmlException e) {
            throw e;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
        return out.get(JAVA_LONG, 0);
    }

    String name(long device) {
        MethodHandle byHandle = function("nvmlDeviceGetName", JAVA_LONG, JAVA_LONG, JAVA_INT);
        if (byHandle == null) {
            return "GPU";
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(NAME_BYTES);
            int status = (int) byHandle.invokeExact(device, text.address(), NAME_BYTES - 1);
            return status == SUCCESS ? text.getString(0) : "GPU";
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Whether the device is divided into instances, whose utilization it does not tell. */
    boolean isDivided(long device) {
        MethodHandle mode = function("nvmlDeviceGetMigMode", JAVA_LONG, JAVA_LONG, JAVA_LONG);
        try {
            return mode != null && (int) mode.invokeExact(device, out.address(), out.address() + Integer.BYTES)
                    == SUCCESS && out.get(JAVA_INT, 0) == 1;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** Whether a process computes on a device. */
    boolean runs(long device, long pid) {
        return !Double.isNaN(processes(device, pid)[1]);
    }

    /**
     * Looks at a device, which takes 40 ms where it measures the link's traffic.
     *
     * @throws NvmlException if the device is gone
     */
    GpuSample sample(long device, long pid) throws NvmlException {
        out.set(JAVA_INT, 0, MEMORY_VERSION);
        int status = call(memory, device);
        if (status == GPU_IS_LOST) {
            check("the device", status);
        }
        double used = status == SUCCESS ? out.get(JAVA_LONG, USED) : UNKNOWN;
        double total = status == SUCCESS ? out.get(JAVA_LONG, TOTAL) : UNKNOWN;
        double busy = call(utilization, device) == SUCCESS ? out.get(JAVA_INT, GPU) / 100.0 : UNKNOWN;
        double[] ours = processes(device, pid);
        long reasons = call(throttle, device) == SUCCESS ? out.get(JAVA_LONG, 0) : -1;
        return new GpuSample(busy, new GpuSample.DeviceMemory(used, total, ours[1]), ours[0],
                number(call(power, device)) / 1000, number(call(temperature, device, TEMPERATURE_GPU)),
                new GpuSample.Clocks(number(call(clock, device, CLOCK_SM)), number(call(maximumClock, device,
                        CLOCK_SM)), reasons),
                errors(device, CORRECTED), errors(device, UNCORRECTED),
                new GpuSample.Link(number(call(generation, device)), number(call(maximumGeneration, device)),
                        number(call(lanes, device)), number(call(maximumLanes, device)),
                        1024 * number(call(traffic, device, PCIE_SENT)),
                        1024 * number(call(traffic, device, PCIE_RECEIVED))));
    }

    /** The number of processes, and what this one uses of the memory; NaN if it is not among them or hides that. */
    private double[] processes(long device, long pid) {
        double[] found = {UNKNOWN, UNKNOWN};
        out.set(JAVA_INT, 0, MOST_PROCESSES);
        int status;
        try {
            status = processes == null ? FUNCTION_NOT_FOUND
                    : (int) processes.invokeExact(device, out.address(), infos.address());
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
        if (status != SUCCESS) {
            return found;
        }
        int count = Math.clamp(out.get(JAVA_INT, 0), 0, MOST_PROCESSES);
        found[0] = count;
        for (int i = 0; i < count; i++) {
            long bytes = infos.get(JAVA_LONG, i * PROCESS.byteSize() + PROCESS_MEMORY);
            // Without the right to see it, all bits are set.
            if (infos.get(JAVA_INT, i * PROCESS.byteSize() + PID) == pid && bytes >= 0) {
                found[1] = bytes;
            }
        }
        return found;
    }

    private double errors(long device, int type) {
        try {
            return errors != null && (int) errors.invokeExact(device, type, VOLATILE, out.address()) == SUCCESS
                    ? out.get(JAVA_LONG, 0) : UNKNOWN;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** The unsigned number that a call has left. */
    private double number(int status) {
        return status == SUCCESS ? Integer.toUnsignedLong(out.get(JAVA_INT, 0)) : UNKNOWN;
    }

    private int call(@Nullable MethodHandle function) {
        try {
            return function == null ? FUNCTION_NOT_FOUND : (int) function.invokeExact(out.address());
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    private int call(@Nullable MethodHandle function, long device) {
        try {
            return function == null ? FUNCTION_NOT_FOUND : (int) function.invokeExact(device, out.address());
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    private int call(@Nullable MethodHandle function, long device, int kind) {
        try {
            return function == null ? FUNCTION_NOT_FOUND : (int) function.invokeExact(device, kind, out.address());
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }
}
