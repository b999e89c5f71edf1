package io.penstock.format.arrow;

import io.penstock.store.Column;
import java.util.List;

/** A column as it lies in every batch: which nodes and buffers are its own. */
sealed interface ArrowShape permits ArrowLeaf, ArrowTree {

    /** What the store calls it. */
    Column column();

    /** What Arrow calls the type of its values, or of the numbers in its lists. */
    String storedType();

    /** How the indices of its dictionaries are stored, of each dictionary before those that its values need. */
    List<ArrowField.Dictionary> indexes();

    /** Whether rows take space in a batch, so that the file's size bounds their number. */
    boolean hasWeight();

    /** A column of this shape that has no batch yet. */
    ArrowColumn open(DecodedBuffers decoded);

    /** The column's name. */
    default String name() {
        return column().name();
    }

    /**
     * A buffer.
     *
     * @param index its position, if no view has data buffers and the metadata are of the fifth version
     * @param viewsBefore the views before it, each of which has as many data buffers as the batch says
     * @param olderBefore the buffers before it that only metadata of the fourth version have
     * @param isOlder whether it is such a buffer itself
     */
    record Slot(int index, int viewsBefore, int olderBefore, boolean isOlder) {

        /** One of the data buffers of the views that lie here. */
        Slot dataOfViews(long number) {
            return new Slot((int) (index + 1 + number), viewsBefore, olderBefore, false);
        }
    }
}
