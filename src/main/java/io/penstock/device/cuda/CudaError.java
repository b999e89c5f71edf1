package io.penstock.device.cuda;

import static io.penstock.cuda.bindings.CudaRuntime.cudaErrorCudartUnloading;
import static io.penstock.cuda.bindings.CudaRuntime.cudaGetErrorName;
import static io.penstock.cuda.bindings.CudaRuntime.cudaGetErrorString;
import static io.penstock.cuda.bindings.CudaRuntime.cudaSuccess;

import io.penstock.device.DeviceException;

/** Turns what a CUDA call returned into an exception. */
final class CudaError {
    private CudaError() {
    }

    /** Goes on if the call succeeded. */
    static void check(int status, String device, String call) {
        if (status != cudaSuccess()) {
            throw new DeviceException(device, call, status, name(status), text(status));
        }
    }

    /** The same for a call that releases something: it need not succeed once the runtime itself is being unloaded. */
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

    /** Name, number and text in one. */
    static String describe(int status) {
        return name(status) + " (" + status + "): " + text(status);
    }
}
