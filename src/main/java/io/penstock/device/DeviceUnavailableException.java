// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import io.penstock.error.PenstockException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The requested device cannot be used here. The message is one line and says how to fix it. */
public class DeviceUnavailableException extends PenstockException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Why a device cannot be used. */
    public enum Reason {
        /** CUDA's bindings do not support this operating system or processor. */
        UNSUPPORTED_PLATFORM,
        /** This JVM was started without native access. */
        NO_NATIVE_ACCESS,
        /** The CUDA runtime library was not found or could not be loaded. */
        NO_RUNTIME,
        /** The CUDA runtime library has a version with other function or struct layouts. */
        WRONG_RUNTIME_VERSION,
        /** The library lacks functions of the CUDA runtime. */
        INCOMPLETE_RUNTIME,
        /** No NVIDIA driver is installed. */
        NO_DRIVER,
        /** The NVIDIA driver is too old for the runtime library. */
        DRIVER_TOO_OLD,
        /** There is no GPU, or none is visible to this process. */
        NO_DEVICE,
        /** The ordinal exceeds the number of GPUs. */
        NO_SUCH_DEVICE,
        /** The driver found the GPU but cannot initialize it. */
        INITIALIZATION_FAILED
    }

    /** Why there is no device. */
    private final Reason reason;

    /**
     * Creates the exception.
     *
     * @param reason why
     * @param message the same in words and how to fix it
     * @param cause the cause, or null
     */
    public DeviceUnavailableException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /** {@return why the device cannot be used} */
    public Reason reason() {
        return reason;
    }
}
