package io.penstock.store;

import io.penstock.codec.MissingLibraryException;
import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.Span;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Records, each of which has a value for every column: the samples of a WebDataset, the rows of a table, the pairs of a
 * key-value store, the files of a folder.
 *
 * <p>A store is immutable and may be read by any number of threads. What is stored compressed is decoded block by
 * block, when a record of the block is located for the first time, into a copy that lives as long as the store: so a
 * span is valid until {@link #close}, whoever located it. Whoever opened the store closes it, when nobody reads.
 */
public non-sealed interface RecordStore extends Store {

    /**
     * Opens a store of whatever format it is in, and checks that it is whole.
     *
     * @param path a file or a folder of the store
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the format is not recognised or not one of records, or its files are not as
     *     it says
     * @throws MissingLibraryException if it takes an optional library that is not there; says which
     * @throws IOException if there is no such file, or it cannot be read
     */
    static RecordStore open(Path path) throws IOException {
        return open(path, OpenOptions.DEFAULT);
    }

    /**
     * Opens a store of which something is known that its files do not say.
     *
     * @param path a file or a folder of the store
     * @param options what is known
     * @return the store, to be closed by the caller
     * @throws MalformedStoreException if the format is not recognised or not one of records, or its files are not as
     *     it says
     * @throws MissingLibraryException if it takes an optional library that is not there; says which
     * @throws IOException if there is no such file, or it cannot be read
     */
    static RecordStore open(Path path, OpenOptions options) throws IOException {
        return open(Location.of(path), options);
    }

    /**
     * Opens a store wherever it is, of which something may be known that its files do not say.
     *
     * @param path a file or a folder of the store
     * @param options what is known
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

    /**
     * The number of records.
     *
     * @return the count
     */
    long size();

    /**
     * The values that records have.
     *
     * @return at least one column, unless there is no record; names differ
     */
    List<Column> columns();

    /**
     * Columns that the files have and the store cannot give.
     *
     * @return why, by their names
     */
    default Map<String, String> unreadColumns() {
        return Map.of();
    }

    /**
     * Whether a record has a value in a column: a row may be null or hold a list of numbers with a null in it, a sample
     * of a WebDataset may lack a file.
     *
     * @param record the record's index
     * @param column the column's position in {@link #columns}
     * @return false if {@link #locate} refuses it
     * @throws IndexOutOfBoundsException if there is no such record or column
     * @throws UncheckedIOException if it takes a compressed block to know, and that is malformed; names the file
     */
    default boolean isPresent(long record, int column) {
        return true;
    }

    /**
     * Points at a value.
     *
     * @param record the record's index
     * @param column the column's position in {@link #columns}
     * @param into set to the value's bytes, row-major and little-endian if they are numbers
     * @throws IndexOutOfBoundsException if there is no such record or column
     * @throws UncheckedIOException if the record has no such value, or the value is compressed and its block is
     *     malformed; names the file and the record
     */
    void locate(long record, int column, Span into);

    /**
     * What the store itself calls a record, for messages: the key of a WebDataset's sample or of a key-value pair, the
     * name of a file.
     *
     * @param record the record's index
     * @return its name; {@code record 17} where the format has none
     * @throws IndexOutOfBoundsException if there is no such record
     */
    default String name(long record) {
        return "record " + record;
    }

    /**
     * Whether the values of a column are decoded into a copy, because they are stored compressed or in another order of
     * bytes.
     *
     * @param column the column's position in {@link #columns}
     * @return false if they are views of the mapped files
     */
    boolean isConverted(int column);

    /**
     * The greatest length of a column's values along their first dimension, if the store knows it without a pass over
     * all records.
     *
     * @param column the column's position in {@link #columns}
     * @return the length, or -1 if it takes that pass
     */
    default long maxLength(int column) {
        return -1;
    }
}
