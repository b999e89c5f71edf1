// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaDriverGetVersion;
import static io.penstock.cuda.bindings.CudaRuntime.cudaErrorInsufficientDriver;
import static io.penstock.cuda.bindings.CudaRuntime.cudaErrorNoDevice;
import static io.penstock.cuda.bindings.CudaRuntime.cudaGetDeviceCount;
import static io.penstock.cuda.bindings.CudaRuntime.cudaSuccess;
import static io.penstock.device.DeviceUnavailableException.Reason.DRIVER_TOO_OLD;
import static io.penstock.device.DeviceUnavailableException.Reason.INITIALIZATION_FAILED;
import static io.penstock.device.DeviceUnavailableException.Reason.NO_DEVICE;
import static io.penstock.device.DeviceUnavailableException.Reason.NO_DRIVER;

import io.penstock.device.DeviceUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Checks that CUDA works here: library, driver, devices, in an order where each check can answer without the next.
 * Without a driver, {@code cudaDriverGetVersion} succeeds with version 0, and every other call returns an error that
 * does not distinguish a missing driver from an old one. Versions are in CUDA's encoding.
 */
record CudaPlatform(CudaLibrary library, int driverVersion) {
    /** The advice names the first driver branch for CUDA 13. */
    private static final String DRIVER_ADVICE = "install NVIDIA driver 580 or newer";

    /** Loads the library and asks it for the driver's version. */
    static CudaPlatform load() {
        CudaLibrary library = CudaLibrary.load();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment version = arena.allocate(ValueLayout.JAVA_INT);
            int status = cudaDriverGetVersion(version);
            if (status != cudaSuccess()) {
                throw new DeviceUnavailableException(INITIALIZATION_FAILED,
                        "the NVIDIA driver does not report its version: cudaDriverGetVersion: "
                                + CudaError.describe(status), null);
            }
            return new CudaPlatform(library, version.get(ValueLayout.JAVA_INT, 0));
        }
    }

    /**
     * Returns the number of devices that this process may use. Throws {@link DeviceUnavailableException} if there are
     * none, or the driver is missing, too old or broken.
     */
    int deviceCount() {
        String runtime = "CUDA runtime " + CudaLibrary.versionText(library.version()) + " (" + library.path() + ")";
        if (driverVersion == 0) {
            throw new DeviceUnavailableException(NO_DRIVER, runtime + " finds no NVIDIA driver: " + DRIVER_ADVICE
                    + "; in a container, start it with GPU access (libcuda.so.1 must be visible)", null);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
            int status = cudaGetDeviceCount(count);
            if (status == cudaErrorInsufficientDriver()) {
                throw new DeviceUnavailableException(DRIVER_TOO_OLD, "the NVIDIA driver supports CUDA "
                        + CudaLibrary.versionText(driverVersion) + ", too old for " + runtime + ": " + DRIVER_ADVICE,
                        null);
            }
            if (status == cudaErrorNoDevice() || status == cudaSuccess() && count.get(ValueLayout.JAVA_INT, 0) == 0) {
                String visible = System.getenv("CUDA_VISIBLE_DEVICES");
                throw new DeviceUnavailableException(NO_DEVICE, visible == null
                        ? "the NVIDIA driver finds no GPU: check that nvidia-smi lists one"
                        : "no GPU is visible to this process: CUDA_VISIBLE_DEVICES is '" + visible + "'", null);
            }
            if (status != cudaSuccess()) {
                throw new DeviceUnavailableException(INITIALIZATION_FAILED,
                        "CUDA does not initialize: cudaGetDeviceCount: " + CudaError.describe(status), null);
            }
            return count.get(ValueLayout.JAVA_INT, 0);
        }
    }
}
