// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaErrorCudartUnloading;
import static io.penstock.cuda.bindings.CudaRuntime.cudaGetErrorName;
import static io.penstock.cuda.bindings.CudaRuntime.cudaGetErrorString;
import static io.penstock.cuda.bindings.CudaRuntime.cudaSuccess;

import io.penstock.device.DeviceException;

/** Converts CUDA status codes to exceptions. */
final class CudaError {
    /** Throws unless the call succeeded. */
    static void check(int status, String device, String call) {
        if (status != cudaSuccess()) {
            throw new DeviceException(device, call, status, name(status), text(status));
        }
    }

    /** The same for a call that releases something, which may fail while the runtime itself is unloading. */
    static void checkRelease(int status, String device, String call) {
        if (status != cudaErrorCudartUnloading()) {
            check(status, device, call);
        }
    }

    static String name(int status) {
        return cudaGetErrorName(status).getString(0);
    }

    static String text(int status) {
        return cudaGetErrorString(status).getString(0);
    }

    /** Name, number and text in one string. */
    static String describe(int status) {
        return name(status) + " (" + status + "): " + text(status);
    }
}
