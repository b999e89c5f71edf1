// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import java.io.IOException;

/** The rows of one data file that a table has deleted: a deletion vector, or files of positions. */
public interface DeletedRows {

    /** {@return how many rows are deleted, without reading them} */
    long count();

    /**
     * Reads the positions.
     *
     * @return the positions in the file, ascending, each once
     * @throws IOException if they cannot be read
     */
    long[] positions() throws IOException;

    /** {@return what names this set of rows, so that two versions can be compared} */
    String id();
}
