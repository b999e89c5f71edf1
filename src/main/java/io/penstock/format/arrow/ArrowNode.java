// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An array of a column as it lies in every batch: which of the batch's nodes and buffers are its own.
 *
 * @param id its number in the column
 * @param field what it holds
 * @param key the field's name as it is written before a struct's value
 * @param position its position among the nodes of a batch
 * @param validity its bitmap; null if it has none
 * @param buffers its other buffers; behind that of views are as many more as the batch says
 * @param children the arrays that it is made of
 * @param values what its indices are looked up in; null if it holds values itself
 */
record ArrowNode(int id, ArrowField field, byte[] key, int position, @Nullable Slot validity, List<Slot> buffers,
        List<ArrowNode> children, @Nullable ArrowShape values) {

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
        Slot dataOfViews(int number) {
            return new Slot(index + 1 + number, viewsBefore, olderBefore, false);
        }
    }

    /** The type of what its buffers hold: values, or indices. */
    ArrowType type() {
        return field.stored();
    }

    /** The child whose number in a union is this; null if there is none. */
    @Nullable ArrowNode ofCode(int code) {
        List<Integer> codes = field.type().codes();
        int index = codes.isEmpty() ? code : codes.indexOf(code);
        return index < 0 || index >= children.size() ? null : children.get(index);
    }

    /** The arrays of indices among it and those that it is made of. */
    Stream<ArrowNode> indexed() {
        return values != null ? Stream.of(this) : children.stream().flatMap(ArrowNode::indexed);
    }

    /** What a schema calls its dictionaries, each before those that its values need. */
    Stream<Long> dictionaryIds() {
        ArrowField.Dictionary dictionary = field.dictionary();
        return values == null || dictionary == null ? children.stream().flatMap(ArrowNode::dictionaryIds)
                : Stream.concat(Stream.of(dictionary.id()), values.root().dictionaryIds());
    }

    /** Whether values take space in a batch, so that the file's size bounds their number. */
    boolean hasWeight() {
        return switch (type().id()) {
            // Only a null, a run and what is made of them take none.
            case NULL, RUN_END_ENCODED -> false;
            case STRUCT -> children.stream().anyMatch(ArrowNode::hasWeight);
            case FIXED_SIZE_LIST -> type().size() > 0 && children.getFirst().hasWeight();
            case FIXED_SIZE_BINARY -> type().size() > 0;
            default -> true;
        };
    }
}
