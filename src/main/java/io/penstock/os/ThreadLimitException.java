// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

/** The OS has no more threads for this process, or no memory for their stacks. */
public final class ThreadLimitException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    ThreadLimitException(String message, Throwable cause) {
        super(message, cause);
    }
}
