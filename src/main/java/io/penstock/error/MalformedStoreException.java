// SPDX-License-Identifier: Apache-2.0
package io.penstock.error;

import java.io.Serial;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A file is not what it should be: it violates its format, stands for data that were not fetched, or is a folder or a
 * FIFO. The message is one line: file, position, what was found and what was expected:
 *
 * <pre>{@code corpus.idx: at byte 17: dtype code 12, expected 1..10 (is this a Megatron index?)}</pre>
 */
public final class MalformedStoreException extends PenstockException {

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
        this(file, "at byte " + byteOffset + ": " + found + ", expected " + expected);
    }

    /**
     * Creates an error about a whole file.
     *
     * @param file the file's path or location
     * @param found what was found
     * @param expected what it should be
     */
    public MalformedStoreException(Object file, String found, String expected) {
        this(file, found + ", expected " + expected);
    }

    /**
     * Creates an error from a reader's rejection of the content.
     *
     * @param file the file's path or location
     * @param refusal the position, what was found and what was expected
     */
    public MalformedStoreException(Object file, RuntimeException refusal) {
        this(file, refusal.getMessage(), refusal);
    }

    /**
     * Creates an error that is described already.
     *
     * @param file the file's path or location
     * @param problem the position, what was found and what was expected
     */
    public MalformedStoreException(Object file, String problem) {
        this(file, problem, (Throwable) null);
    }

    /**
     * Creates an error that is described already.
     *
     * @param file the file's path or location
     * @param problem the position, what was found and what was expected
     * @param cause the cause, or null
     */
    public MalformedStoreException(Object file, @Nullable String problem, @Nullable Throwable cause) {
        super(oneLine(file + ": " + problem), cause);
    }

    @Override
    public boolean isBadInput() {
        return true;
    }

    /** {@return the file, the position, what was found and what was expected} */
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
