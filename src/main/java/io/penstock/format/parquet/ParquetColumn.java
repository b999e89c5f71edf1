// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.codec.DecodeLimit;
import io.penstock.format.ColumnBlock;
import io.penstock.io.MappedFile;
import io.penstock.io.spill.DecodedSpill;
import io.penstock.store.Column;
import java.io.IOException;
import java.util.List;

/** A column that can be read, and which leaves of the schema it is made of. */
sealed interface ParquetColumn permits Flat, Nested {

    /** What its values are to a store's users. */
    Column column();

    /** What Arrow calls the type of its values, or of the numbers in its lists. */
    String storedType();

    /** The leaves that its values are stored in. */
    List<Leaf> leaves();

    /** Decodes its part of a row group, which is taken of the budget. */
    ColumnBlock decode(MappedFile file, RowGroup group, DecodeLimit.Budget budget, DecodedSpill copy)
            throws IOException;
}
