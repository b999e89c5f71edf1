// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import io.penstock.error.PenstockException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A conversion is not possible: a tensor or column is missing, a value does not fit, or a record lacks one. The
 * one-line message says which, and how to fix it.
 */
public final class ConversionException extends PenstockException {

    @Serial
    private static final long serialVersionUID = 1;

    ConversionException(@Nullable String message) {
        super(message, null);
    }

    ConversionException(@Nullable String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean isBadInput() {
        return true;
    }
}
