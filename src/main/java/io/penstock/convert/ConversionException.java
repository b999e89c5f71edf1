package io.penstock.convert;

import java.io.IOException;
import java.io.Serial;

/**
 * A conversion is not possible: a tensor or column is missing, a value does not fit, or a record lacks one. The
 * one-line message says which, and how to fix it.
 */
public final class ConversionException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    /**
     * Creates the exception.
     *
     * @param message what was found and what was expected
     */
    public ConversionException(String message) {
        super(message);
    }

    /**
     * Creates the exception with a cause.
     *
     * @param message what was found and what was expected
     * @param cause the cause
     */
    public ConversionException(String message, Throwable cause) {
        super(message, cause);
    }
}
