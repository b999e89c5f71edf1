// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.error.PenstockException;

/** Input that the command cannot use, whether or not it is a well-formed store. */
final class BadInputException extends PenstockException {

    private static final long serialVersionUID = 1;

    BadInputException(String message) {
        super(message, null);
    }

    BadInputException(String message, Throwable cause) {
        super(message, cause);
    }

    @Override
    public boolean isBadInput() {
        return true;
    }
}
