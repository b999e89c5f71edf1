// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.error.LibraryException;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A store of records with one value per column: WebDataset samples, table rows, key-value pairs, the files of a folder.
 *
 * <p>A store is immutable; any number of threads may read it. Locating a record in a compressed block for the first
 * time decodes the block into a copy that lives as long as the store, so every span is valid until {@link #close}. The
 * opener closes the store after the last read.
 */
public non-sealed interface RecordStore extends Store {

    /**
     * Detects the format of a store, opens it and validates it.
     *
     * @param path a file or a folder of the store
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path, OpenOptions)}
     */
    static RecordStore open(Path path) throws IOException {
        return open(path, OpenOptions.DEFAULT);
    }

    /**
     * Opens a store with options, for what its files do not declare.
     *
     * @param path a file or a folder of the store
     * @param options what the files do not declare
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if no format is detected, it is not a record format, or the files violate it
     * @throws LibraryException if the store needs an optional library that is missing; names the library
     * @throws IOException if the file is missing or cannot be read
     */
    static RecordStore open(Path path, OpenOptions options) throws IOException {
        return open(Location.of(path), options);
    }

    /**
     * Opens a store at any location.
     *
     * @param path a file or a folder of the store
     * @param options what the files do not declare
     * @return the store, to be closed by the caller
     * @throws IOException as {@link #open(Path, OpenOptions)}
     */
    static RecordStore open(Location path, OpenOptions options) throws IOException {
        Store store = Store.open(path, options);
        if (store instanceof RecordStore records) {
            return records;
        }
        store.close();
        throw new MalformedStoreException(path, "a store of " + (store instanceof TokenStore ? "tokens" : "tensors"),
                "one of records");
    }

    /** What {@link #key} is. */
    enum Keys {
        /** A record's index: the format names no records. */
        NUMBERS,
        /** A record's own name, which no other record has. */
        NAMES,
        /**
         * A file's path without its suffix. Files that differ only in their suffix have one key and follow each other:
         * they are parts of one sample, as in a tar. {@link #name} is the whole path.
         */
        FILES
    }

    /** {@return the number of records} */
    long size();

    /**
     * {@return the names of the classes whose numbers a column has: class 0 first; empty if the store has no names, the
     * default} The subfolders of a folder of images are classes.
     */
    default List<String> classes() {
        return List.of();
    }

    /** {@return the columns, at least one unless the store is empty; their names are unique} */
    List<Column> columns();

    /** {@return why the store cannot read columns that the files contain, by column name} */
    default Map<String, String> unreadColumns() {
        return Map.of();
    }

    /**
     * {@return whether a record has a value in a column; if not, {@link #locate} throws} A table row may be null or a
     * list of numbers with a null in it; a WebDataset sample may lack a file.
     *
     * @param record the record's index
     * @param column the column's position in {@link #columns}
     * @throws IndexOutOfBoundsException if the record or column does not exist
     * @throws MalformedStoreException if the answer needs a compressed block that is malformed; names the file
     */
    default boolean isPresent(long record, int column) {
        return true;
    }

    /**
     * Locates a value.
     *
     * @param record the record's index
     * @param column the column's position in {@link #columns}
     * @param into receives the value's bytes; numbers are row-major and little-endian
     * @throws IndexOutOfBoundsException if the record or column does not exist
     * @throws MalformedStoreException if the record has no such value, or the value is compressed and its block is
     *     malformed; names the file and the record
     */
    void locate(long record, int column, Span into);

    /**
     * Copies the values of many records in a column, which all have one size, one after another. Only a store that
     * copies small values faster than it locates them does so.
     *
     * @param records the records' indices
     * @param count how many of them to copy
     * @param column the column's position in {@link #columns}
     * @param valueBytes the size of each value
     * @param target native memory
     * @param targetOffset where to write the first value
     * @param scratch room for numbers, of any length but 0
     * @return whether all were copied; if not, what was written is undefined, and {@link #locate} tells what is wrong
     */
    default boolean gather(long[] records, int count, int column, long valueBytes, MemorySegment target,
            long targetOffset, long[] scratch) {
        return false;
    }

    /**
     * {@return the store's own name of a record, for messages: the key of a WebDataset sample or of a key-value pair, a
     * file name; for example {@code record 17} if the format has none}
     *
     * @param record the record's index
     * @throws IndexOutOfBoundsException if the record does not exist
     */
    default String name(long record) {
        return "record " + record;
    }

    /**
     * {@return what identifies a record in its store however many are added: its key, or its file's path in the folder;
     * its index if the format has neither}
     *
     * @param record the record's index
     * @throws IndexOutOfBoundsException if the record does not exist
     */
    default String key(long record) {
        return Long.toString(Objects.checkIndex(record, size()));
    }

    /** {@return what {@link #key} returns} */
    default Keys keys() {
        return Keys.NUMBERS;
    }

    /** {@return the position of the column that holds the bytes of the keys; -1 if there is none, the default} */
    default int keyColumn() {
        return -1;
    }

    /**
     * {@return whether a column's values are decoded into a copy, because they are compressed or in another byte order;
     * otherwise they are views of the mapped files}
     *
     * @param column the column's position in {@link #columns}
     */
    boolean isConverted(int column);

    /**
     * {@return the greatest length of a column's values along the first dimension, or -1 if only a pass over all
     * records can tell}
     *
     * @param column the column's position in {@link #columns}
     */
    default long maxLength(int column) {
        return -1;
    }

    /**
     * {@return Arrow's name of the type of a column's values, such as {@code date32[day]} or {@code timestamp[us]};
     * empty if its {@link Column} says all, the default}
     *
     * @param column the column's position in {@link #columns}
     */
    default String storedType(int column) {
        return "";
    }

    /**
     * Finds the rows for which conditions hold. Where the files have statistics, what cannot have such rows is not
     * read.
     *
     * @param where conditions joined by {@code and}, such as {@code country = 'de' and price >= 10 and note is not
     *     null}; {@link RowFilter} has the forms
     * @return the rows' indices, ascending, for {@code Dataset.select}
     * @throws IllegalArgumentException if a condition names no column, or its value is none of the column's type
     * @throws MalformedStoreException if a file that must be read violates its format
     */
    default long[] rowsWhere(String where) {
        return rowsWhere(RowFilter.parse(where, columns(), this::storedType));
    }

    /**
     * Finds the rows for which conditions hold.
     *
     * @param filter the conditions, on the columns of this store
     * @return the rows' indices, ascending
     */
    default long[] rowsWhere(RowFilter filter) {
        RowFilter.FoundRows found = new RowFilter.FoundRows();
        filter.find(this, 0, size(), found);
        return found.toArray();
    }
}
