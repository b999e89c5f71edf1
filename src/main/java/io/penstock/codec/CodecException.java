// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec;

import java.io.IOException;
import java.io.Serial;

/**
 * Data are not encoded as expected: a compressed block is malformed or has an unexpected size, text is not in UTF-8, a
 * line is not JSON. The message need not name the file.
 */
public final class CodecException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    /**
     * Creates the exception.
     *
     * @param message the defect, for example {@code zstd: the block decodes to more than 1024 bytes}
     */
    public CodecException(String message) {
        super(message);
    }
}
