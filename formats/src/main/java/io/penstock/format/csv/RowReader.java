// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import org.jspecify.annotations.Nullable;

/**
 * Finds the rows of a text, and what their fields are. For one thread.
 *
 * <p>The bytes that it is given end with a line feed behind the last one, and with {@link #PADDING_BYTES} in all.
 */
abstract class RowReader {

    /** The bytes behind those that are read: a line feed, and what words of eight bytes reach. */
    static final int PADDING_BYTES = 2 * Long.BYTES;

    /** What {@link #row} returns if the row goes on behind the bytes. */
    static final int INCOMPLETE = -1;

    /** What the fields of each column are so far, as {@link ColumnType} says. */
    final int[] found;
    /** The texts of columns of categories; null for others. */
    final @Nullable Categories[] categories;
    /** Whether the last row is a row of the table. */
    boolean isCounted;
    /** What is wrong with the last row; empty if nothing is. */
    String problem = "";

    RowReader(int columns) {
        this.found = new int[columns];
        this.categories = new Categories[columns];
    }

    /**
     * Reads a row.
     *
     * @param end the end of the bytes
     * @param isEnd whether the text ends there
     * @return where the next row begins, or {@link #INCOMPLETE}
     */
    abstract int row(byte[] bytes, int at, int end, boolean isEnd);

    /** Returns the first line feed or carriage return from a byte on; there is one. */
    static int lineEnd(byte[] bytes, int at) {
        int p = at;
        while (bytes[p] != '\n' && bytes[p] != '\r') {
            p++;
        }
        return p;
    }

    /** Returns the byte behind a line feed, a carriage return, or both. */
    static int behindLineEnd(byte[] bytes, int at) {
        return bytes[at] == '\r' && bytes[at + 1] == '\n' ? at + 2 : at + 1;
    }
}
