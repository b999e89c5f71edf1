package io.penstock.format.arrow;

import io.penstock.memory.DType;
import io.penstock.store.Column;
import java.util.List;

/**
 * A column as it lies in every batch: which nodes and buffers are its own.
 *
 * @param column what the store calls it
 * @param storedType what Arrow calls the type of its numbers
 * @param layout how its values lie in the data buffer
 * @param levels the arrays that say whether a value is null, outermost first
 * @param offsets the buffer of offsets of a {@link Layout#VARIABLE} one, of the views of a {@link Layout#VIEW} one
 * @param offsetBytes bytes of an offset, 4 or 8
 * @param sizes the buffer of sizes, as wide as offsets; null if each value ends where the next one starts
 * @param data the buffer of the values, or of a dictionary's indices
 * @param itemBytes bytes of a value of fixed size as it is given, or of an item of a list
 * @param itemCount how many items every list has; -1 if that differs
 * @param itemBits elements of an item that are stored as a bit each; 0 if they are not
 * @param index how a dictionary's indices are stored
 * @param values the dictionary's values, of whose batches each has one column
 */
record ArrowLeaf(Column column, String storedType, Layout layout, List<Level> levels, Slot offsets, int offsetBytes,
        Slot sizes, Slot data, long itemBytes, long itemCount, long itemBits, ArrowField.Dictionary index,
        ArrowLeaf values) implements ArrowShape {

    /** How values lie in the data buffer. */
    enum Layout {
        /** There is none: every value is null. */
        NONE,
        /** All values have the same size. */
        FIXED,
        /** From an offset to the next, or of a size. */
        VARIABLE,
        /** Within 16 bytes, or in one of several data buffers where those bytes say. */
        VIEW,
        /** They are in the dictionary that the index points into. */
        DICTIONARY
    }

    /**
     * An array that says which of its values are null.
     *
     * @param node its position
     * @param validity its bitmap
     * @param perRow how many of its values a row has, or of an item of a list if it is within lists
     * @param inItems whether it is within lists of variable length
     * @param isRegular whether it is the items of lists that all have one length because the shape of the column says
     *     so, though they could have any
     */
    record Level(int node, Slot validity, long perRow, boolean inItems, boolean isRegular) {

        /** Whether each of its values is a row's. */
        boolean isOfRow() {
            return perRow == 1 && !inItems;
        }
    }

    DType dtype() {
        return column.spec().dtype();
    }

    @Override
    public List<ArrowField.Dictionary> indexes() {
        return index == null ? List.of() : List.of(index);
    }

    @Override
    public boolean hasWeight() {
        return layout == Layout.VARIABLE || layout == Layout.VIEW || itemBytes > 0;
    }

    @Override
    public ArrowValues open(DecodedBuffers decoded) {
        return new ArrowValues(this, decoded);
    }

    /** The values of binary and text are counted by their buffer's bytes, those of lists by their array's length. */
    boolean itemsAreBytes() {
        return column.kind() != Column.Kind.NUMBERS;
    }
}
