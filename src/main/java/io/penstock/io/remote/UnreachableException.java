// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.remote;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A server that cannot be connected to: it may be starting, or its name or port may be wrong. */
final class UnreachableException extends IOException {

    private static final long serialVersionUID = 1;

    /** The attempts that are worth making. */
    private final int attempts;

    UnreachableException(String message, int attempts, @Nullable Throwable cause) {
        super(message, cause);
        this.attempts = attempts;
    }

    int attempts() {
        return attempts;
    }
}
