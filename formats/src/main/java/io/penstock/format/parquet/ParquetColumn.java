// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.format.arrow.ArrowType;
import io.penstock.format.table.ColumnBlock;
import io.penstock.format.table.UnitedColumns;
import io.penstock.io.DecodeLimit;
import io.penstock.io.MappedFile;
import io.penstock.store.Column;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A column that can be read, and its leaves in the schema. */
sealed interface ParquetColumn permits Flat, Nested {

    Column column();

    /** Returns Arrow's name of the type of its values, or of the numbers in its lists. */
    String storedType();

    List<Leaf> leaves();

    /** Returns what the columns of other files are united with. */
    default UnitedColumns.Own own() {
        return new UnitedColumns.Own(column(), storedType(), leaves().size() == 1
                && leaves().getFirst().type().id() == ArrowType.Id.NULL);
    }

    /** Returns how it is read as the column of several files; null if it has no value of that. */
    @Nullable ParquetColumn as(Column united);

    /** Decodes its part of a row group. */
    ColumnBlock decode(MappedFile file, RowGroup group, DecodeLimit.Budget budget, DecodeBuffers buffers,
            ColumnBlock.Copy copy) throws IOException;
}
