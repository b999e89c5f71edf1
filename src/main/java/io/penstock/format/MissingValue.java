// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

/** What helps whoever reads records of which one lacks a value. */
public final class MissingValue {

    /** How such records are left out. */
    public static final String LEFT_OUT = "--skip-incomplete leaves out such records, --fields such columns;"
            + " in Java, RecordFields.complete() leaves out the records";

    /** What was expected in place of a value that is null or cannot be given. */
    public static final String EXPECTED = "a value (" + LEFT_OUT + ")";

    private MissingValue() {
    }
}
