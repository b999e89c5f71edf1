package io.penstock.image;

import java.io.IOException;
import java.io.Serial;

/** An image is malformed, or of a kind that is not read. The message does not name the file: whoever has it does. */
public final class ImageException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    /** Where in the image. */
    private final long byteOffset;
    /** What is there. */
    private final String found;
    /** What a well-formed image has there. */
    private final String expected;

    /**
     * A finding at a place in an image.
     *
     * @param byteOffset the first byte of what is wrong; the image's size if it ends too early
     * @param found what is there
     * @param expected what a well-formed image has there
     */
    public ImageException(long byteOffset, String found, String expected) {
        super((byteOffset < 0 ? "" : "at byte " + byteOffset + ": ") + found + ", expected " + expected);
        this.byteOffset = byteOffset;
        this.found = found;
        this.expected = expected;
    }

    /**
     * A finding about an image as a whole.
     *
     * @param found what it is
     * @param expected what it should be
     */
    public ImageException(String found, String expected) {
        this(-1, found, expected);
    }

    /**
     * Where it is wrong.
     *
     * @return the first byte of what is wrong, or -1 if it is the image as a whole
     */
    public long byteOffset() {
        return byteOffset;
    }

    /**
     * What is wrong.
     *
     * @return what was found
     */
    public String found() {
        return found;
    }

    /**
     * What would be right.
     *
     * @return what was expected
     */
    public String expected() {
        return expected;
    }
}
