// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An array of a column, and its place in every batch.
 *
 * @param id its number in the column
 * @param key the field's name as JSON, before a struct's value
 * @param position its position among the nodes of a batch
 * @param validity its bitmap; null if it has none
 * @param buffers its other buffers, without the data buffers of views
 * @param values the field of its dictionary's values; null if it has no dictionary
 */
record ArrowNode(int id, ArrowField field, byte[] key, int position, @Nullable Slot validity, List<Slot> buffers,
        List<ArrowNode> children, @Nullable ArrowShape values) {

    /**
     * A buffer.
     *
     * @param index its position, before counting the data buffers of views and the older bitmaps
     * @param viewsBefore the views before it, whose number of data buffers varies by batch
     * @param olderBefore the bitmaps before it that exist only before version 5 of the metadata
     * @param isOlder whether it is such a bitmap
     */
    record Slot(int index, int viewsBefore, int olderBefore, boolean isOlder) {

        /** Returns a data buffer of the views in this one. */
        Slot dataOfViews(int number) {
            return new Slot(index + 1 + number, viewsBefore, olderBefore, false);
        }
    }

    /** Returns the type of its buffers: the values, or their indices. */
    ArrowType type() {
        return field.stored();
    }

    /** Returns the child of a union's code; null if there is none. */
    @Nullable ArrowNode ofCode(int code) {
        List<Integer> codes = field.type().codes();
        int index = codes.isEmpty() ? code : codes.indexOf(code);
        return index < 0 || index >= children.size() ? null : children.get(index);
    }

    /** Returns the arrays of indices in this one and its children. */
    Stream<ArrowNode> indexed() {
        return values != null ? Stream.of(this) : children.stream().flatMap(ArrowNode::indexed);
    }

    /** Returns the ids of its dictionaries, each before those that its values need. */
    Stream<Long> dictionaryIds() {
        ArrowField.Dictionary dictionary = field.dictionary();
        return values == null || dictionary == null ? children.stream().flatMap(ArrowNode::dictionaryIds)
                : Stream.concat(Stream.of(dictionary.id()), values.root().dictionaryIds());
    }

    /** Tells whether values take space in a batch, so that the file's size bounds their number. */
    boolean hasWeight() {
        return switch (type().id()) {
            // Only nulls, runs, and types made of these take none.
            case NULL, RUN_END_ENCODED -> false;
            case STRUCT -> children.stream().anyMatch(ArrowNode::hasWeight);
            case FIXED_SIZE_LIST -> type().size() > 0 && children.getFirst().hasWeight();
            case FIXED_SIZE_BINARY -> type().size() > 0;
            default -> true;
        };
    }
}
