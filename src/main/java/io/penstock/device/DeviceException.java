package io.penstock.device;

import java.io.Serial;

/**
 * An error that a device reported, by the number and name that CUDA gives it. The host device uses the same ones.
 *
 * <p>The call that carries the error need not be the one that caused it: work that fails asynchronously is reported
 * by a later call.
 */
public class DeviceException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** CUDA's number. */
    private final int status;
    /** CUDA's name. */
    private final String errorName;
    /** What reported it. */
    private final String call;

    /**
     * An error without a Java cause.
     *
     * @param device the device's name
     * @param call the call that reported it, such as {@code cudaMemcpyAsync}
     * @param status the number, such as 700
     * @param errorName CUDA's name of it, such as {@code cudaErrorIllegalAddress}
     * @param text what it means
     */
    public DeviceException(String device, String call, int status, String errorName, String text) {
        this(device, call, status, errorName, text, null);
    }

    /**
     * An error with a Java cause.
     *
     * @param device the device's name
     * @param call the call that reported it, such as {@code cudaMemcpyAsync}
     * @param status the number, such as 700
     * @param errorName CUDA's name of it, such as {@code cudaErrorIllegalAddress}
     * @param text what it means
     * @param cause what it comes from, or null
     */
    public DeviceException(
            String device, String call, int status, String errorName, String text, Throwable cause) {
        super(device + ": " + call + ": " + errorName + " (" + status + "): " + text, cause);
        this.status = status;
        this.errorName = errorName;
        this.call = call;
    }

    /**
     * The number of the error.
     *
     * @return for example 2
     */
    public int status() {
        return status;
    }

    /**
     * CUDA's name of the error.
     *
     * @return for example {@code cudaErrorMemoryAllocation}
     */
    public String errorName() {
        return errorName;
    }

    /**
     * The call that reported the error.
     *
     * @return for example {@code cudaHostAlloc}
     */
    public String call() {
        return call;
    }
}
