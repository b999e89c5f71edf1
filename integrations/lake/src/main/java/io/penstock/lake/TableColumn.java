// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A column of a table at a version. Files name it as it was called when they were written, or by an id.
 *
 * @param name the column's name at this version; of a struct's field the path, {@code info.b}
 * @param type the type at this version; files may have a narrower one
 * @param inFile its name in files, where the table matches by name; its path for a struct's field
 * @param fieldId its id in files, where the table matches by id; otherwise -1
 * @param constant the position of its value in {@link DataFile#constants}, where files need not have it: a column that
 *     the table is partitioned by; otherwise -1
 * @param absent the value of rows of files that were written before the column was added: encoded as {@link Values}
 *     does; null if it is null
 * @param renames the names in files of fields below it, which its JSON has, and their names in the table
 */
public record TableColumn(String name, ValueType type, String inFile, int fieldId, int constant,
        byte @Nullable [] absent, Map<String, String> renames) {

    /** Copies the names. */
    public TableColumn {
        renames = Map.copyOf(renames);
    }

    /**
     * A column that is null in files that do not have it.
     *
     * @param name the column's name at this version
     * @param type the type at this version
     * @param inFile its name in files
     * @param fieldId its id in files, or -1
     * @param constant the position of its value in {@link DataFile#constants}, or -1
     * @param renames the names in files of fields below it, and their names in the table
     */
    public TableColumn(String name, ValueType type, String inFile, int fieldId, int constant,
            Map<String, String> renames) {
        this(name, type, inFile, fieldId, constant, null, renames);
    }

    /**
     * {@return the column with a value in files that do not have it}
     *
     * @param value the value, encoded as {@link Values} does
     */
    public TableColumn withAbsent(byte[] value) {
        return new TableColumn(name, type, inFile, fieldId, constant, value, renames);
    }
}
