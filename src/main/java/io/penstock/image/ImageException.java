// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

import java.io.IOException;
import java.io.Serial;

/** An image is malformed or of an unsupported kind. The message does not name the file: the caller does. */
public final class ImageException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    /** The position in the image, or -1. */
    private final long byteOffset;
    /** What was found. */
    private final String found;
    /** What was expected. */
    private final String expected;

    /**
     * Reports a defect at a position in an image.
     *
     * @param byteOffset the first wrong byte; the image's size if it ends too early
     * @param found what was found
     * @param expected what was expected
     */
    public ImageException(long byteOffset, String found, String expected) {
        super((byteOffset < 0 ? "" : "at byte " + byteOffset + ": ") + found + ", expected " + expected);
        this.byteOffset = byteOffset;
        this.found = found;
        this.expected = expected;
    }

    /**
     * Reports a defect of an image as a whole.
     *
     * @param found what the image is
     * @param expected what it should be
     */
    public ImageException(String found, String expected) {
        this(-1, found, expected);
    }

    /** {@return the first wrong byte, or -1 if the defect concerns the image as a whole} */
    public long byteOffset() {
        return byteOffset;
    }

    /** {@return what was found} */
    public String found() {
        return found;
    }

    /** {@return what was expected} */
    public String expected() {
        return expected;
    }
}
