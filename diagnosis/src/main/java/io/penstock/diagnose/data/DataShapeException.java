// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

/** Two profiles have different fields, so they do not belong to one dataset. */
public final class DataShapeException extends IllegalArgumentException {

    private static final long serialVersionUID = 1;

    /**
     * Creates the exception.
     *
     * @param message the first field that differs, found and expected
     */
    public DataShapeException(String message) {
        super(message);
    }
}
