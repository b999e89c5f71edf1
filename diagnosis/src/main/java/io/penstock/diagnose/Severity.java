// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

/** How much a finding matters, in ascending order. */
public enum Severity {
    /** Good to know. */
    INFO,
    /** Worth a change. */
    WARN,
    /** The largest gain is here. */
    CRIT;

    /** {@return the name in the summary file: the constant's name in lower case} */
    public String label() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
