package io.penstock.format.arrow;

import io.penstock.io.MalformedStoreException;
import io.penstock.io.Span;

/**
 * The dictionaries that a column was written with. A stream may replace its dictionary, which begins a new version, or
 * add values to it, which leaves the indices of the version's older values as they are; each file begins anew.
 */
final class ArrowDictionary {

    /** The version of a batch that came before any dictionary. */
    private static final int NONE = -1;

    /** The values of all versions, one behind the other. */
    private final ArrowColumn values;
    private final Longs firsts = new Longs();
    private final Longs ends = new Longs();
    private int version = NONE;
    private long id;

    ArrowDictionary(ArrowColumn values) {
        this.values = values;
    }

    /** What the file that is read calls the dictionary. */
    long id() {
        return id;
    }

    ArrowColumn values() {
        return values;
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
        long before = values.rows();
        values.add(batch);
        if (isDelta) {
            ends.set(version, values.rows());
        } else {
            version = firsts.count();
            firsts.add(before);
            ends.add(values.rows());
        }
    }

    private boolean has(long key, int version) {
        return version != NONE && key >= 0 && key < ends.get(version) - firsts.get(version);
    }

    /** The row of an index's value; -1 if the version has none. */
    long row(long key, int version) {
        return has(key, version) ? firsts.get(version) + key : -1;
    }

    /** Whether an index stands for a value that is not null; true for one that is in no dictionary. */
    boolean isPresent(long key, int version) {
        return !has(key, version) || values.isPresent(firsts.get(version) + key);
    }

    /** Points at the value of an index; false if the version has none. */
    boolean locate(long key, int version, Span into) {
        if (!has(key, version)) {
            return false;
        }
        values.locate(firsts.get(version) + key, into);
        return true;
    }
}
