package io.penstock.json;

/** A text is not JSON, or not the JSON that was needed: where, what was found there, and what was expected. */
public final class JsonException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final long offset;
    private final String found;
    private final String expected;

    JsonException(long offset, String found, String expected) {
        this("at offset " + offset + ": ", offset, found, expected);
    }

    /** A value that is JSON, but not of the kind its reader needs. */
    JsonException(String found, String expected) {
        this("", -1, found, expected);
    }

    private JsonException(String where, long offset, String found, String expected) {
        // Without a stack trace: a corpus may have many bad lines, and the offset says more.
        super(where + "found " + found + ", expected " + expected, null, false, false);
        this.offset = offset;
        this.found = found;
        this.expected = expected;
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
}
