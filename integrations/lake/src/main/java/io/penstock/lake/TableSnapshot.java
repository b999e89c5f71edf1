// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import io.penstock.io.Location;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A table at a version: its columns and the files of its rows, in the order of the rows.
 *
 * <p>Files are sorted by {@link DataFile#order}, then by path, so that files added later are behind those that were
 * there. A row's index is its place in that order, with deleted rows left out.
 *
 * @param format the name of the table's format, {@code delta} or {@code iceberg}
 * @param table where the table is
 * @param id what identifies the table in all its versions
 * @param version the version, as {@code LakeTable.at} takes it
 * @param columns the columns, in the table's order
 * @param files the files, sorted
 * @param at finds a file by its path
 */
public record TableSnapshot(String format, Location table, String id, String version, List<TableColumn> columns,
        List<DataFile> files, Function<String, Location> at) {

    /** What became of the rows of a version in another one. */
    public enum Change {
        /** The rows are the same, in the same files. */
        SAME,
        /** All rows are there at their indices, and more behind them. */
        APPENDED,
        /** Files were written anew, such as by a compaction: the rows may be the same, their order is not. */
        REWRITTEN,
        /** Rows were deleted or replaced. */
        CHANGED
    }

    /** Sorts the files. */
    public TableSnapshot {
        columns = List.copyOf(columns);
        files = files.stream().sorted(Comparator.comparingLong(DataFile::order).thenComparing(DataFile::path)).toList();
    }

    /**
     * Compares this version with an earlier one by their files.
     *
     * @param earlier the earlier version of the same table
     * @return what became of its rows; where files are missing and the number of rows is at least the same,
     *     {@link Change#REWRITTEN}
     */
    public Change since(TableSnapshot earlier) {
        boolean isPrefix = files.size() >= earlier.files.size();
        for (int i = 0; isPrefix && i < earlier.files.size(); i++) {
            isPrefix = files.get(i).hasRowsOf(earlier.files.get(i));
        }
        if (isPrefix) {
            return files.size() == earlier.files.size() ? Change.SAME : Change.APPENDED;
        }
        Map<String, DataFile> now = new HashMap<>();
        files.forEach(file -> now.put(file.path(), file));
        long gone = 0;
        long same = 0;
        for (DataFile file : earlier.files) {
            DataFile found = now.get(file.path());
            if (found != null && !found.hasRowsOf(file)) {
                return Change.CHANGED;
            }
            gone += found == null ? file.live() : 0;
            same += found == null ? 0 : file.live();
        }
        return gone > 0 && rows() - same >= gone ? Change.REWRITTEN : Change.CHANGED;
    }

    /** {@return the number of rows, without those deleted} */
    public long rows() {
        return files.stream().mapToLong(DataFile::live).sum();
    }

    @Override
    public String toString() {
        return table + " at version " + version;
    }
}
