// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.format.table.UnitedColumns;
import io.penstock.memory.DType;
import io.penstock.store.Column;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A column and its place in every batch.
 *
 * @param storedType Arrow's name of the type of its values, or of the numbers in its lists
 * @param path the structs around it, outermost first, and the array of its values
 * @param size the number of its arrays, those structs included
 * @param flat how values are read in place; null if they are given as JSON
 */
record ArrowShape(Column column, String storedType, List<ArrowNode> path, int size, @Nullable ArrowFlat flat) {

    String name() {
        return column.name();
    }

    ArrowNode root() {
        return path.getLast();
    }

    /** Returns what the columns of other files are united with. */
    UnitedColumns.Own own() {
        return new UnitedColumns.Own(column, storedType, root().type().id() == ArrowType.Id.NULL);
    }

    /** Opens the column; its numbers become those of {@code dtype}, which may be wider. */
    ArrowColumn open(DecodedBuffers decoded, DType dtype) {
        return flat == null ? new ArrowJson(this, decoded) : new ArrowValues(this, flat.as(dtype), decoded, dtype);
    }
}
