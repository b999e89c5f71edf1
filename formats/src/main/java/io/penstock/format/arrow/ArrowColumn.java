// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.io.Span;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The values of one column, of the rows or of a dictionary, batch by batch. */
sealed interface ArrowColumn permits ArrowValues, ArrowJson {

    ArrowShape shape();

    void add(ArrowBatch batch);

    /** The dictionaries of the column, in the order of {@link ArrowNode#dictionaryIds}. */
    List<ArrowDictionary<?>> dictionaries();

    /** Why the column cannot be read; null if it can. Call it when all batches are added. */
    @Nullable String refusal();

    boolean isConverted();

    /** Ends the adding of batches. */
    void freeze(RowIndex rows);

    /** Whether a row has a value. Where a malformed file leaves that open, {@link #locate} throws. */
    boolean isPresent(long row);

    void locate(long row, Span into);
}
