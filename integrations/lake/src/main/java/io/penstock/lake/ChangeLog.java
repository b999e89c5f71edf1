// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import java.io.IOException;
import java.util.Optional;

/** The changes of a table, a step for each version. */
public interface ChangeLog {

    /**
     * {@return the version that follows another one; empty if there is none yet}
     *
     * @param version a version; {@code ""} for the one before the first that the table still has
     * @throws IOException if the table cannot be read, or no longer has the version
     */
    Optional<String> after(String version) throws IOException;

    /**
     * {@return the rows that a version added; with a change feed, its rows}
     *
     * @param version the version
     * @throws IOException if the log cannot be read, or no longer has the version
     * @throws UnsupportedOperationException if the version deleted or replaced rows, and there is no feed that says
     *     which
     */
    TableSnapshot rows(String version) throws IOException;
}
