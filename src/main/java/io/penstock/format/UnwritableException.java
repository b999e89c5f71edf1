// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import java.io.IOException;
import java.io.Serial;

/** A row's value cannot be written as JSON; other rows may be good. The caller adds the position to the message. */
public final class UnwritableException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    public UnwritableException(String message) {
        super(message);
    }
}
