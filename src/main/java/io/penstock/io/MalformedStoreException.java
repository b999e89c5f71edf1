// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.io.IOException;
import java.io.Serial;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * A file violates its format. The message is one line: file, position, what was found and what was expected:
 *
 * <pre>{@code corpus.idx: at byte 17: dtype code 9, expected 1..8 (is this a Megatron index?)}</pre>
 */
public final class MalformedStoreException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\u2028\\u2029]");

    /**
     * Creates an error at a position in a file.
     *
     * @param file the file's path or location
     * @param byteOffset the first wrong byte; the file's size if the file ends too early
     * @param found what was found there
     * @param expected what a well-formed file has there
     */
    public MalformedStoreException(Object file, long byteOffset, String found, String expected) {
        super(oneLine(file + ": at byte " + byteOffset + ": " + found + ", expected " + expected));
    }

    /**
     * Creates an error about a whole file.
     *
     * @param file the file's path or location
     * @param found what was found
     * @param expected what it should be
     */
    public MalformedStoreException(Object file, String found, String expected) {
        super(oneLine(file + ": " + found + ", expected " + expected));
    }

    /**
     * Creates an error from a reader's rejection of the content.
     *
     * @param file the file
     * @param refusal the position, what was found and what was expected
     */
    public MalformedStoreException(Object file, IllegalArgumentException refusal) {
        super(oneLine(file + ": " + refusal.getMessage()), refusal);
    }

    /** {@return the position, what was found and what was expected} */
    @Override
    public String getMessage() {
        return Objects.requireNonNull(super.getMessage());
    }

    /** Escapes control characters, which file names and file contents may hold. */
    private static String oneLine(String message) {
        return CONTROL.matcher(message).replaceAll(c ->
                String.format(Locale.ROOT, "\\\\u%04x", (int) c.group().charAt(0)));
    }
}
