package io.penstock.cli;

/** Input that is well-formed as a store or is none at all, and that the command can do nothing with. */
final class BadInputException extends RuntimeException {

    private static final long serialVersionUID = 1;

    BadInputException(String message, Throwable cause) {
        super(message, cause);
    }
}
