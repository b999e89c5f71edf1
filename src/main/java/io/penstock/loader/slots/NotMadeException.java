// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader.slots;

/** Thrown at the turn of a batch that could not be built, which is skipped; the cause is what its maker threw. */
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
