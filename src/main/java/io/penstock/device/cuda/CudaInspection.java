// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaDevAttrAsyncEngineCount;
import static io.penstock.cuda.bindings.CudaRuntime.cudaDevAttrComputeCapabilityMajor;
import static io.penstock.cuda.bindings.CudaRuntime.cudaDevAttrComputeCapabilityMinor;
import static io.penstock.cuda.bindings.CudaRuntime.cudaDevAttrHostNumaId;
import static io.penstock.cuda.bindings.CudaRuntime.cudaDeviceGetAttribute;
import static io.penstock.cuda.bindings.CudaRuntime.cudaDeviceGetPCIBusId;
import static io.penstock.cuda.bindings.CudaRuntime.cudaGetDeviceProperties;
import static io.penstock.cuda.bindings.CudaRuntime.cudaMemGetInfo;
import static io.penstock.cuda.bindings.CudaRuntime.cudaSuccess;

import io.penstock.cuda.bindings.cudaDeviceProp;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceInventory.DeviceInfo;
import io.penstock.device.DeviceInventory.DeviceSupport;
import io.penstock.device.DeviceUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the properties of CUDA devices. Only the free memory needs CUDA initialized on the device, so the rest is known
 * even for a device that another process uses exclusively.
 */
final class CudaInspection {
    private static final int PCI_BUS_ID_BYTES = 32;

    private final int ordinal;
    private final List<String> problems = new ArrayList<>();

    private CudaInspection(int ordinal) {
        this.ordinal = ordinal;
    }

    static DeviceSupport inspect() {
        List<DeviceInfo> devices = new ArrayList<>();
        String library = "";
        String runtime = "";
        String driver = "";
        try {
            CudaPlatform platform = CudaPlatform.load();
            library = platform.library().path().toString();
            runtime = CudaLibrary.versionText(platform.library().version());
            driver = platform.driverVersion() == 0 ? "" : CudaLibrary.versionText(platform.driverVersion());
            int count = platform.deviceCount();
            for (int ordinal = 0; ordinal < count; ordinal++) {
                devices.add(new CudaInspection(ordinal).info());
            }
            return new DeviceSupport(CudaProvider.KIND, devices, library, runtime, driver, null, "");
        } catch (DeviceUnavailableException e) {
            return new DeviceSupport(CudaProvider.KIND, devices, library, runtime, driver, e.reason(),
                    String.valueOf(e.getMessage()));
        }
    }

    private DeviceInfo info() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment properties = cudaDeviceProp.allocate(arena);
            boolean named = succeeded(cudaGetDeviceProperties(properties, ordinal), "cudaGetDeviceProperties");
            String model = named ? cudaDeviceProp.name(properties).getString(0) : "";
            int major = attribute(cudaDevAttrComputeCapabilityMajor(), arena);
            int minor = attribute(cudaDevAttrComputeCapabilityMinor(), arena);
            MemorySegment busId = arena.allocate(PCI_BUS_ID_BYTES);
            boolean located = succeeded(
                    cudaDeviceGetPCIBusId(busId, PCI_BUS_ID_BYTES, ordinal), "cudaDeviceGetPCIBusId");
            int copyEngines = attribute(cudaDevAttrAsyncEngineCount(), arena);
            int hostNumaNode = attribute(cudaDevAttrHostNumaId(), arena);
            long[] memory = memory(arena);
            return new DeviceInfo("cuda:" + ordinal, model, major < 0 ? "" : major + "." + minor, memory[0], memory[1],
                    copyEngines, hostNumaNode, located ? busId.getString(0) : "", String.join("; ", problems));
        }
    }

    private int attribute(int attribute, Arena arena) {
        MemorySegment value = arena.allocate(ValueLayout.JAVA_INT);
        boolean known = succeeded(cudaDeviceGetAttribute(value, attribute, ordinal), "cudaDeviceGetAttribute");
        return known ? value.get(ValueLayout.JAVA_INT, 0) : -1;
    }

    /** Total and free bytes. */
    private long[] memory(Arena arena) {
        MemorySegment free = arena.allocate(ValueLayout.JAVA_LONG);
        MemorySegment total = arena.allocate(ValueLayout.JAVA_LONG);
        try (CudaDevice device = CudaDevice.open(ordinal)) {
            device.create("cudaMemGetInfo", () -> cudaMemGetInfo(free, total));
            return new long[] {total.get(ValueLayout.JAVA_LONG, 0), free.get(ValueLayout.JAVA_LONG, 0)};
        } catch (DeviceException | DeviceUnavailableException e) {
            problems.add(e.getMessage());
            return new long[] {-1, -1};
        }
    }

    private boolean succeeded(int status, String call) {
        if (status != cudaSuccess()) {
            problems.add(call + ": " + CudaError.describe(status));
        }
        return status == cudaSuccess();
    }
}
