// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

/** What a source does where its records end for now. */
public enum StreamEnd {
    /** The partition ends there. */
    STOP,
    /** It waits for more. */
    WAIT
}
