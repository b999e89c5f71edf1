// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

/** The OS cannot start another thread for this process, or has no memory for its stack. */
public final class ThreadLimitException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    ThreadLimitException(String message, Throwable cause) {
        super(message, cause);
    }
}
