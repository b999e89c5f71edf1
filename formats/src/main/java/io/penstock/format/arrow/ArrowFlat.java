// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A column whose values are read in place: numbers, lists of numbers, bytes, text, or indices of these.
 *
 * @param storedType Arrow's name of the type of its numbers
 * @param levels the arrays with nulls, outermost first; the last one has the values
 * @param itemBytes the size of a fixed-size value, list item or index
 * @param itemCount the number of items of every list; -1 if it varies
 */
record ArrowFlat(Column column, String storedType, Layout layout, List<Level> levels, long itemBytes, long itemCount) {

    enum Layout {
        /** Every value is null. */
        NONE,
        /** Values of one size, consecutive. */
        FIXED,
        /** Between an offset and the next one, or of a given size. */
        VARIABLE,
        /** Within 16 bytes, or in one of several data buffers. */
        VIEW,
        /** In the dictionary. */
        DICTIONARY
    }

    /**
     * An array with nulls of its own.
     *
     * @param perRow the number of its values per row, or per list item
     * @param inItems whether it is within lists of variable length
     * @param isRegular whether it is the items of lists that have one length by the column's shape, not by their type
     */
    record Level(ArrowNode node, long perRow, boolean inItems, boolean isRegular) {

        boolean isOfRow() {
            return perRow == 1 && !inItems;
        }
    }

    /** Returns the column with its numbers in a type, which may be wider. */
    ArrowFlat as(DType dtype) {
        DType own = column.spec().dtype();
        return own == dtype || column.kind() != Column.Kind.NUMBERS || layout == Layout.DICTIONARY ? this
                : new ArrowFlat(column, storedType, layout, levels, itemBytes / own.byteSize() * dtype.byteSize(),
                        itemCount);
    }

    /** Returns how a column is read in place; null if its values are neither numbers nor bytes nor text. */
    static @Nullable ArrowFlat of(String name, List<ArrowNode> path) {
        ArrowField field = path.getLast().field();
        ArrowType type = field.type();
        ArrowShape values = path.getLast().values();
        List<Level> rows = path.stream().map(node -> new Level(node, 1, false, false)).toList();
        if (values != null) {
            return values.flat() == null ? null : new ArrowFlat(values.column(), values.storedType(),
                    Layout.DICTIONARY, rows, field.stored().valueBytes(), -1);
        }
        Column column = type.column(name, "");
        if (column == null || column.kind() == Column.Kind.NUMBERS) {
            return numbers(name, rows);
        }
        return switch (type.id()) {
            case NULL -> new ArrowFlat(column, type.text(), Layout.NONE, List.of(), 0, -1);
            case FIXED_SIZE_BINARY -> new ArrowFlat(column, type.text(), Layout.FIXED, rows, type.size(), -1);
            default -> new ArrowFlat(column, type.text(), type.isView() ? Layout.VIEW : Layout.VARIABLE, rows, 1, -1);
        };
    }

    /** Returns a column of numbers, of fixed-size lists, or of lists of these; null for anything else. */
    private static @Nullable ArrowFlat numbers(String name, List<Level> rows) {
        List<Level> levels = new ArrayList<>(rows);
        List<Long> shape = new ArrayList<>();
        ArrowNode node = rows.getLast().node();
        boolean isList = switch (node.type().id()) {
            case LIST, LARGE_LIST, LIST_VIEW, LARGE_LIST_VIEW -> true;
            default -> false;
        };
        List<Long> dims = node.field().shape();
        boolean isShaped = isList && dims.size() > 1
                && dims.stream().skip(1).allMatch(dim -> dim > 0 && dim <= Integer.MAX_VALUE);
        long itemCount = isShaped ? Math.max(dims.getFirst(), -1) : -1;
        if (isList) {
            shape.add(itemCount < 0 ? TensorSpec.VARIABLE : itemCount);
            node = node.children().getFirst();
            levels.add(new Level(node, 1, true, false));
        }
        Iterator<Long> regular = isShaped ? dims.listIterator(1) : Collections.emptyIterator();
        long elements = 1;
        for (long length = lengthOf(node, regular); length >= 0 && elements <= Integer.MAX_VALUE;
                length = lengthOf(node, regular)) {
            boolean isRegular = node.type().id() != ArrowType.Id.FIXED_SIZE_LIST;
            shape.add(length);
            elements *= length;
            node = node.children().getFirst();
            levels.add(new Level(node, elements, isList, isRegular));
        }
        DType dtype = node.type().dtype();
        if (dtype == null || node.values() != null || elements > Integer.MAX_VALUE) {
            return null;
        }
        return new ArrowFlat(Column.numbers(name, dtype, shape.stream().mapToLong(Long::longValue).toArray()),
                dtype == DType.BOOL ? "bool (bit-packed)" : node.field().typeText(),
                isList ? Layout.VARIABLE : Layout.FIXED, List.copyOf(levels), elements * dtype.byteSize(), itemCount);
    }

    /** Returns the length of every list of an array, by its type or the column's shape; -1 if it varies. */
    private static long lengthOf(ArrowNode node, Iterator<Long> regular) {
        return switch (node.type().id()) {
            case FIXED_SIZE_LIST -> node.type().size();
            case LIST, LARGE_LIST -> regular.hasNext() ? regular.next() : -1;
            default -> -1;
        };
    }
}
