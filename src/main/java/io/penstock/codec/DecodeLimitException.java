// SPDX-License-Identifier: Apache-2.0
package io.penstock.codec;

import java.io.IOException;
import java.io.Serial;

/**
 * A compressed file would exceed a {@link DecodeLimit}. The message names the file, the found size, the limit, and how
 * to raise it.
 */
public final class DecodeLimitException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    DecodeLimitException(String message) {
        super(message);
    }
}
