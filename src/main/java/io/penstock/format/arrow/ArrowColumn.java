// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.io.MalformedStoreException;
import io.penstock.io.Span;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where the values of one column are, batch by batch: those of its rows, or of a dictionary. */
sealed interface ArrowColumn permits ArrowValues, ArrowJson {

    /** What it is, and how it lies in a batch. */
    ArrowShape shape();

    /** Adds the column's part of a batch. */
    void add(ArrowBatch batch) throws MalformedStoreException;

    /** The dictionaries that values are looked up in, as {@link ArrowNode#dictionaryIds} has them. */
    List<ArrowDictionary<?>> dictionaries();

    /** Why the column cannot be given; null if it can. Known when all batches are added. */
    @Nullable String refusal();

    boolean isConverted();

    /** All batches are added. */
    void freeze(RowIndex rows);

    /** Whether a row has a value; it is in the index. Where that cannot be told, {@link #locate} says why. */
    boolean isPresent(long row);

    /** Points at the value of a row; it is in the index. */
    void locate(long row, Span into);
}
