package io.penstock.json;

/** A text is not JSON, or not the JSON that was needed: where, what was found there, and what was expected. */
public final class JsonException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String where;
    private final long offset;
    private final String found;
    private final String expected;

    JsonException(long offset, String found, String expected) {
        this("at offset " + offset + ": ", offset, found, expected);
    }

    /** What is JSON, but not what its reader needs, has no offset. */
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
     * Where the fault is.
     *
     * @return bytes from the start of the parsed range, or chars where a {@code CharSequence} was parsed; -1 where a
     *         parsed value is of the wrong kind
     */
    public long offset() {
        return offset;
    }

    /**
     * In which field or at which offset of what the fault is, as the message begins.
     *
     * @return for example {@code "not a loader state: epoch: "}; may be empty
     */
    public String where() {
        return where;
    }

    /**
     * What stands there.
     *
     * @return for example {@code 'x'} or {@code the end}
     */
    public String found() {
        return found;
    }

    /**
     * What could have stood there.
     *
     * @return for example {@code ',' or '}'}
     */
    public String expected() {
        return expected;
    }

    JsonException at(long otherOffset) {
        return new JsonException(otherOffset, found, expected);
    }

    /** The same of a document that should be something. */
    JsonException in(String what) {
        return new JsonException("not " + what + ": " + where, offset, found, expected);
    }
}
