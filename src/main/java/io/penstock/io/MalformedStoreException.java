package io.penstock.io;

import java.io.IOException;
import java.io.Serial;

/**
 * A file is not what its format says it must be. The message is one line that names the file, the place in it, what was
 * found and what was expected:
 *
 * <pre>{@code corpus.idx: at byte 17: dtype code 9, expected 1..8 (is this a Megatron index?)}</pre>
 */
public final class MalformedStoreException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    /**
     * A finding at a place in a file.
     *
     * @param file the file's path or location
     * @param byteOffset the first byte of what is wrong; the file's size if the file ends too early
     * @param found what is there
     * @param expected what a well-formed file has there
     */
    public MalformedStoreException(Object file, long byteOffset, String found, String expected) {
        super(oneLine(file + ": at byte " + byteOffset + ": " + found + ", expected " + expected));
    }

    /**
     * A finding about a file as a whole.
     *
     * @param file the file's path or location
     * @param found what it is
     * @param expected what it should be
     */
    public MalformedStoreException(Object file, String found, String expected) {
        super(oneLine(file + ": " + found + ", expected " + expected));
    }

    /**
     * What a reader of the file's content refused.
     *
     * @param file the file
     * @param refusal says where, what was found and what was expected
     */
    public MalformedStoreException(Object file, IllegalArgumentException refusal) {
        super(oneLine(file + ": " + refusal.getMessage()), refusal);
    }

    /** A file's name or text from a file may hold anything: control characters are shown escaped. */
    private static String oneLine(String message) {
        StringBuilder line = new StringBuilder(message.length());
        message.codePoints().forEach(c -> {
            if (Character.isISOControl(c) || c == 0x2028 || c == 0x2029) {
                line.append(String.format("\\u%04x", c));
            } else {
                line.appendCodePoint(c);
            }
        });
        return line.toString();
    }
}
