// SPDX-License-Identifier: Apache-2.0
package io.penstock.json;

/** A text is not JSON, or not the JSON that was needed. Says where, what was found, and what was expected. */
public final class JsonException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String where;
    private final long offset;
    private final String found;
    private final String expected;

    JsonException(long offset, String found, String expected) {
        this("at offset " + offset + ": ", offset, found, expected);
    }

    /** A value that is JSON, but not what its reader needs, has the offset -1. */
    JsonException(String where, long offset, String found, String expected) {
        super(where + "found " + found + ", expected " + expected);
        this.where = where;
        this.offset = offset;
        this.found = found;
        this.expected = expected;
    }

    /** Without a stack trace: a corpus may have many bad lines, and the offset says more. */
    @Override
    public Throwable fillInStackTrace() {
        return this;
    }

    /**
     * Returns where the fault is: bytes from the start of the parsed range, chars if a {@code CharSequence} was parsed,
     * or -1 if a parsed value is of the wrong kind.
     */
    public long offset() {
        return offset;
    }

    /** Returns the start of the message, for example {@code "not a loader state: epoch: "}; may be empty. */
    public String where() {
        return where;
    }

    /** Returns what was found, for example {@code 'x'} or {@code the end}. */
    public String found() {
        return found;
    }

    /** Returns what was expected, for example {@code ',' or '}'}. */
    public String expected() {
        return expected;
    }

    JsonException at(long otherOffset) {
        return new JsonException(otherOffset, found, expected);
    }

    /** Returns this error for a document that should be {@code what}. */
    JsonException in(String what) {
        return new JsonException("not " + what + ": " + where, offset, found, expected);
    }
}
