// SPDX-License-Identifier: Apache-2.0
package io.penstock.error;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A limit is reached: a compressed file decodes to more than a {@code DecodeLimit}, or the OS starts no further thread.
 * The message names the limit, what was found, and how to raise it.
 */
public final class LimitException extends PenstockException {

    @Serial
    private static final long serialVersionUID = 1;

    /** Whether a file exceeds the limit. */
    private final boolean ofInput;

    private LimitException(String message, @Nullable Throwable cause, boolean ofInput) {
        super(message, cause);
        this.ofInput = ofInput;
    }

    /**
     * {@return the exception for a file that exceeds a limit}
     *
     * @param message names the file, the size found, the limit, and how to raise it
     */
    public static LimitException ofInput(String message) {
        return new LimitException(message, null, true);
    }

    /**
     * {@return the exception for a limit of the machine or the process}
     *
     * @param message names the limit and how to raise it
     * @param cause the cause
     */
    public static LimitException ofMachine(String message, Throwable cause) {
        return new LimitException(message, cause, false);
    }

    @Override
    public boolean isBadInput() {
        return ofInput;
    }
}
