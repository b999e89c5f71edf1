// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import java.io.IOException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A conversion is not possible: a tensor or column is missing, a value does not fit, or a record lacks one. The
 * one-line message says which, and how to fix it.
 */
public final class ConversionException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    ConversionException(@Nullable String message) {
        super(message);
    }

    ConversionException(@Nullable String message, Throwable cause) {
        super(message, cause);
    }
}
