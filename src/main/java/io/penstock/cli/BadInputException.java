// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

/** Input that the command cannot use, whether or not it is a well-formed store. */
final class BadInputException extends RuntimeException {

    private static final long serialVersionUID = 1;

    BadInputException(String message) {
        super(message);
    }

    BadInputException(String message, Throwable cause) {
        super(message, cause);
    }
}
