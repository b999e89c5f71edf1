// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.util.Locale;

/** What a fetch of remote bytes is waiting for. */
public enum FetchPhase {
    /** Another process, which fetches the same bytes. */
    LOCK,
    /** Earlier requests: as many are under way as may be. */
    QUEUE,
    /** The first byte of the server's answer. */
    FIRST_BYTE,
    /** The rest of the answer, until it is stored and checked. */
    TRANSFER,
    /** The next attempt, after one that failed. */
    RETRY;

    /** {@return the name in reports: the constant's name in lower case} */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
