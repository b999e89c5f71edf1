// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

/**
 * The dictionaries of a column. A stream may replace its dictionary, which begins a new version, or append values to
 * the current version. Each file starts with dictionaries of its own.
 */
final class ArrowDictionary<C extends ArrowColumn> {

    /** The version of a batch before any dictionary. */
    private static final int NONE = -1;

    /** The values of all versions, consecutive. */
    private final C values;
    private final RowIndex.Builder rows = new RowIndex.Builder();
    private final Longs firsts = new Longs();
    private final Longs ends = new Longs();
    private int version = NONE;
    private long id;

    ArrowDictionary(C values) {
        this.values = values;
    }

    /** Returns the id of the dictionary in the current file. */
    long id() {
        return id;
    }

    C values() {
        return values;
    }

    /** Returns the index of the values' batches; call it when all are added. */
    RowIndex index() {
        return rows.build();
    }

    /** Returns the version for the next batch of rows. */
    int version() {
        return version;
    }

    /** Begins a file, which has its own dictionary under its own id. */
    void beginFile(long nameOfIt) {
        version = NONE;
        id = nameOfIt;
    }

    void add(boolean isDelta, ArrowBatch batch) {
        if (isDelta && version == NONE) {
            throw batch.malformed("values for a missing dictionary", "the dictionary first");
        }
        if (!isDelta) {
            version = firsts.count();
            firsts.add(rows.rows());
            ends.add(rows.rows());
        }
        rows.add(batch);
        values.add(batch);
        ends.set(version, rows.rows());
    }

    /** Returns the row of an index's value; -1 if the version has none. */
    long row(long key, int version) {
        boolean isThere = version != NONE && key >= 0 && key < ends.get(version) - firsts.get(version);
        return isThere ? firsts.get(version) + key : -1;
    }
}
