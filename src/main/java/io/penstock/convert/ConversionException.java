package io.penstock.convert;

import java.io.IOException;
import java.io.Serial;

/**
 * A store cannot become what was asked for: it has no such tensor or column, a value does not fit, a record lacks one.
 * The message is one line that says which, and what can be done.
 */
public final class ConversionException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    /**
     * A reason.
     *
     * @param message what was found and what was expected
     */
    public ConversionException(String message) {
        super(message);
    }

    /**
     * A reason that something else gave.
     *
     * @param message what was found and what was expected
     * @param cause who found it
     */
    public ConversionException(String message, Throwable cause) {
        super(message, cause);
    }
}
