// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

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

    /**
     * Leaves out all rows of a file but some, for streams of changes: those that one set of positions has and another
     * one has not.
     *
     * @param rows the rows of the file
     * @param kept the rows that are not left out, ascending
     * @param except of those, rows that are left out
     * @return the rows left out
     */
    static DeletedRows allBut(long rows, long[] kept, long[] except) {
        Set<Long> without = Arrays.stream(except).boxed().collect(Collectors.toSet());
        Set<Long> left = Arrays.stream(kept).boxed().filter(row -> !without.contains(row)).collect(Collectors.toSet());
        long[] deleted = LongStream.range(0, rows).filter(row -> !left.contains(row)).toArray();
        return new DeletedRows() {
            @Override
            public long count() {
                return deleted.length;
            }

            @Override
            public long[] positions() {
                return deleted.clone();
            }

            @Override
            public String id() {
                return "all but " + left.size();
            }
        };
    }
}
