// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.store.Column;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A column as it lies in every batch.
 *
 * @param column what the store calls it
 * @param storedType what Arrow calls the type of its values, or of the numbers in its lists
 * @param path the structs that it is a field of, outermost first, and the array of its values
 * @param size how many arrays it has, those structs included
 * @param flat how values are read where they lie; null if they are given as JSON
 */
record ArrowShape(Column column, String storedType, List<ArrowNode> path, int size, @Nullable ArrowFlat flat) {

    String name() {
        return column.name();
    }

    /** The array of its values. */
    ArrowNode root() {
        return path.getLast();
    }

    /** A column of this shape that has no batch yet. */
    ArrowColumn open(DecodedBuffers decoded) {
        return flat == null ? new ArrowJson(this, decoded) : new ArrowValues(this, flat, decoded);
    }
}
