package io.penstock.device;

import java.io.Serial;

/** A device that was asked for cannot be used here. The message is one line, and says what to do about it. */
public class DeviceUnavailableException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Why a device cannot be used. */
    public enum Reason {
        /** The operating system or processor is not one that the CUDA bindings are made for. */
        UNSUPPORTED_PLATFORM,
        /** This JVM was not started with the right to call native code. */
        NO_NATIVE_ACCESS,
        /** CUDA's runtime library was not found, or could not be loaded. */
        NO_RUNTIME,
        /** CUDA's runtime library is of a version whose calls are laid out differently. */
        WRONG_RUNTIME_VERSION,
        /** The library lacks functions of CUDA's runtime. */
        INCOMPLETE_RUNTIME,
        /** No NVIDIA driver is installed. */
        NO_DRIVER,
        /** The NVIDIA driver is older than the runtime library needs. */
        DRIVER_TOO_OLD,
        /** There is no GPU, or none is visible to this process. */
        NO_DEVICE,
        /** There are GPUs, but not so many. */
        NO_SUCH_DEVICE,
        /** The driver found the GPU and cannot start it. */
        INITIALIZATION_FAILED
    }

    /** Why. */
    private final Reason reason;

    /**
     * A device that cannot be used.
     *
     * @param reason why
     * @param message the same in words, with what to do
     * @param cause what it comes from, or null
     */
    public DeviceUnavailableException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /**
     * Why the device cannot be used.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }
}
