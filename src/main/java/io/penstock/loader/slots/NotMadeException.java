// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

/** A batch that could not be made is passed over at its turn; the cause is what its maker threw. */
public final class NotMadeException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final RuntimeException reason;

    NotMadeException(RuntimeException cause) {
        super(null, cause, false, false);
        this.reason = cause;
    }

    /** What the batch's maker threw. */
    public RuntimeException reason() {
        return reason;
    }
}
