// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import java.io.IOException;
import java.io.Serial;

/** A stored value does not match its decoder. The message does not locate the value: the caller does. */
public final class DecodeException extends IOException {

    @Serial
    private static final long serialVersionUID = 1;

    private static final int MAX_SHOWN_CHARS = 40;

    /**
     * Creates the exception.
     *
     * @param found what the value is
     * @param expected what it should be
     */
    public DecodeException(String found, String expected) {
        super(found + ", expected " + expected);
    }

    static void checkSize(long bytes, long targetBytes) throws DecodeException {
        if (bytes != targetBytes) {
            throw new DecodeException(bytes + " bytes", "" + targetBytes);
        }
    }

    /** Prepares a text for a message: truncates long text and replaces control characters. */
    static String shown(String text) {
        StringBuilder shown = new StringBuilder("'");
        text.codePoints().limit(MAX_SHOWN_CHARS)
                .forEach(c -> shown.appendCodePoint(Character.isISOControl(c) ? '?' : c));
        return shown.append(text.length() > MAX_SHOWN_CHARS ? "...'" : "'").toString();
    }
}
