package io.penstock.store.arrow;

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
 * @param offsets the buffer of offsets of a {@link Layout#VARIABLE} one
 * @param offsetBytes bytes of an offset, 4 or 8
 * @param data the buffer of the values, or of a dictionary's indices
 * @param itemBytes bytes of a value of fixed size as it is given, or of an item of a list
 * @param itemCount how many items every list has; -1 if that differs
 * @param itemBits elements of an item that are stored as a bit each; 0 if they are not
 * @param index how a dictionary's indices are stored
 * @param values the dictionary's values, of whose batches each has one column
 */
record ArrowLeaf(Column column, String storedType, Layout layout, List<Level> levels, Slot offsets, int offsetBytes,
        Slot data, long itemBytes, long itemCount, long itemBits, ArrowField.Dictionary index, ArrowLeaf values) {

    /** How values lie in the data buffer. */
    enum Layout {
        /** There is none: every value is null. */
        NONE,
        /** All values have the same size. */
        FIXED,
        /** From one offset to the next. */
        VARIABLE,
        /** They are in the dictionary that the index points into. */
        DICTIONARY
    }

    /**
     * A buffer.
     *
     * @param index its position, if no view has data buffers
     * @param viewsBefore the views before it, each of which has as many data buffers as the batch says
     */
    record Slot(int index, int viewsBefore) {
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
    }

    String name() {
        return column.name();
    }

    DType dtype() {
        return column.spec().dtype();
    }

    /** The values of binary and text are counted by their buffer's bytes, those of lists by their array's length. */
    boolean itemsAreBytes() {
        return column.kind() != Column.Kind.NUMBERS;
    }
}
