package io.penstock.format;

import java.io.IOException;
import java.io.Serial;

/** A row's value cannot be written as JSON; other rows can. The message does not say where it is: the caller does. */
public final class UnwritableException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    /**
     * A finding.
     *
     * @param message what is wrong with the value
     */
    public UnwritableException(String message) {
        super(message);
    }
}
