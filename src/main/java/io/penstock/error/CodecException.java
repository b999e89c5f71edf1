// SPDX-License-Identifier: Apache-2.0
package io.penstock.error;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A value cannot be decoded or encoded: a compressed block is malformed, text is not UTF-8, an image is damaged, a
 * number does not fit its type. The message does not name the file: whoever knows it catches this and throws a {@link
 * MalformedStoreException} or adds the sample.
 */
public final class CodecException extends PenstockException {

    @Serial
    private static final long serialVersionUID = 1;

    /**
     * Creates the exception.
     *
     * @param message the defect, for example {@code zstd: the block decodes to more than 1024 bytes}
     */
    public CodecException(@Nullable String message) {
        super(message, null);
    }

    /**
     * Creates the exception.
     *
     * @param found what the value is
     * @param expected what it should be
     */
    public CodecException(String found, String expected) {
        super(found + ", expected " + expected, null);
    }

    /**
     * Creates the exception of a position in the value.
     *
     * @param byteOffset the first wrong byte; the value's size if it ends too early
     * @param found what was found there
     * @param expected what a well-formed value has there
     */
    public CodecException(long byteOffset, String found, String expected) {
        this("at byte " + byteOffset + ": " + found, expected);
    }

    @Override
    public boolean isBadInput() {
        return true;
    }
}
