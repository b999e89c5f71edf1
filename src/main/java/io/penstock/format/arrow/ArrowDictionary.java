// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.io.MalformedStoreException;

/**
 * The dictionaries that a column was written with. A stream may replace its dictionary, which begins a new version, or
 * add values to it, which leaves the indices of the version's older values as they are; each file begins anew.
 */
final class ArrowDictionary<C extends ArrowColumn> {

    /** The version of a batch that came before any dictionary. */
    private static final int NONE = -1;

    /** The values of all versions, one behind the other. */
    private final C values;
    private final RowIndex.Builder rows = new RowIndex.Builder();
    private final Longs firsts = new Longs();
    private final Longs ends = new Longs();
    private int version = NONE;
    private long id;

    ArrowDictionary(C values) {
        this.values = values;
    }

    /** What the file that is read calls the dictionary. */
    long id() {
        return id;
    }

    C values() {
        return values;
    }

    /** The index of the values' batches, when all are added. */
    RowIndex index() {
        return rows.build();
    }

    /** The version that a batch which comes now is written with. */
    int version() {
        return version;
    }

    /** A file begins, which has its own dictionary and its own name for it. */
    void beginFile(long nameOfIt) {
        version = NONE;
        id = nameOfIt;
    }

    void add(boolean isDelta, ArrowBatch batch) throws MalformedStoreException {
        if (isDelta && version == NONE) {
            throw batch.malformed("values added to a dictionary that there is not", "the dictionary first");
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

    /** The row of an index's value; -1 if the version has none. */
    long row(long key, int version) {
        boolean isThere = version != NONE && key >= 0 && key < ends.get(version) - firsts.get(version);
        return isThere ? firsts.get(version) + key : -1;
    }
}
