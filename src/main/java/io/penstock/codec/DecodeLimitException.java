package io.penstock.codec;

import java.io.IOException;
import java.io.Serial;

/**
 * A compressed file would decode to more than a {@link DecodeLimit} allows. The message names the file, what was found,
 * the limit, and what raises it.
 */
public final class DecodeLimitException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    DecodeLimitException(String message) {
        super(message);
    }
}
