// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import io.penstock.error.PenstockException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * An error reported by a device, with CUDA's error number and name. The host device uses the same ones.
 *
 * <p>The call that reports an error need not be the one that caused it: a failure of asynchronous work is reported by a
 * later call.
 */
public class DeviceException extends PenstockException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** CUDA's error number. */
    private final int status;
    /** CUDA's error name. */
    private final String errorName;
    /** The call that reported it. */
    private final String call;

    /**
     * An error without a Java cause.
     *
     * @param device the device's name
     * @param call the call that reported it, such as {@code cudaMemcpyAsync}
     * @param status the error number, such as 700
     * @param errorName CUDA's name for it, such as {@code cudaErrorIllegalAddress}
     * @param text the error's meaning
     */
    public DeviceException(String device, String call, int status, String errorName, String text) {
        this(device, call, status, errorName, text, null);
    }

    /**
     * An error with a Java cause.
     *
     * @param device the device's name
     * @param call the call that reported it, such as {@code cudaMemcpyAsync}
     * @param status the error number, such as 700
     * @param errorName CUDA's name for it, such as {@code cudaErrorIllegalAddress}
     * @param text the error's meaning
     * @param cause the cause, or null
     */
    public DeviceException(
            String device, String call, int status, String errorName, String text, @Nullable Throwable cause) {
        super(device + ": " + call + ": " + errorName + " (" + status + "): " + text, cause);
        this.status = status;
        this.errorName = errorName;
        this.call = call;
    }

    /** {@return the error number, for example 2} */
    public int status() {
        return status;
    }

    /** {@return CUDA's name for the error, for example {@code cudaErrorMemoryAllocation}} */
    public String errorName() {
        return errorName;
    }

    /** {@return the call that reported the error, for example {@code cudaHostAlloc}} */
    public String call() {
        return call;
    }
}
