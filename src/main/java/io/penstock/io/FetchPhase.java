// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

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
    RETRY
}
