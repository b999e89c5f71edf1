// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import org.jspecify.annotations.Nullable;

/**
 * A Parquet file of a table at a version.
 *
 * @param path where it is, as the table says: a path or a URI
 * @param rows its rows, with those deleted; -1 if the table does not say, so that the file's footer must be read
 * @param bytes its size
 * @param order when it came to the table: files of a greater order are behind others
 * @param deleted the rows deleted; null if none
 * @param constants values of {@link TableColumn#constant}, encoded as {@link Values} does; files may share one array
 */
public record DataFile(String path, long rows, long bytes, long order, @Nullable DeletedRows deleted,
        byte[] @Nullable [] constants) {

    /** Values of no column. */
    public static final byte[][] NO_CONSTANTS = {};

    long live() {
        return rows - (deleted == null ? 0 : deleted.count());
    }

    /** Tells whether another version of the table has the same rows of it. */
    boolean hasRowsOf(DataFile other) {
        return path.equals(other.path) && rows == other.rows && id(deleted).equals(id(other.deleted));
    }

    static String id(@Nullable DeletedRows deleted) {
        return deleted == null ? "" : deleted.id();
    }
}
