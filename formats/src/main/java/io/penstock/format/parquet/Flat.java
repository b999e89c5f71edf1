// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.format.arrow.ArrowField;
import io.penstock.format.arrow.ArrowType;
import io.penstock.format.table.ColumnBlock;
import io.penstock.io.DecodeLimit;
import io.penstock.io.MappedFile;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A column of numbers, bytes or text, one per row, or of lists of numbers.
 *
 * @param storedType Arrow's name of the type of the numbers or bytes
 * @param listDefinition for a list, the level of an element, present or null: one less is an empty list, anything below
 *     a null one; 0 if it is no list
 */
record Flat(Column column, String storedType, Leaf leaf, int listDefinition) implements ParquetColumn {

    /** Returns the column of a leaf; null if its values are given as JSON. */
    static @Nullable Flat of(String name, SchemaNode node, Leaf leaf, int listDefinition) {
        Column column = leaf.physical() == Physical.INT96 ? null
                : leaf.type().column(name, node.is(Annotation.Meaning.JSON) ? "json" : "");
        if (column == null || listDefinition > 0 && column.kind() != Column.Kind.NUMBERS) {
            return null;
        }
        return new Flat(listDefinition == 0 ? column
                : Column.numbers(name, column.spec().dtype(), TensorSpec.VARIABLE), leaf.type().text(), leaf,
                listDefinition);
    }

    /** Returns the column with what only Arrow's schema has: a list's length, a unit, a time zone. */
    Flat refined(ArrowField field) {
        String type = (isList() && field.children().size() == 1 ? field.children().getFirst() : field).typeText();
        boolean isFiner = type.startsWith("duration[") && storedType.equals("int64")
                || type.startsWith("timestamp[") && storedType.startsWith(type.replaceFirst("[,\\]].*", ""));
        TensorSpec spec = isList() && field.listLength() >= 0 ? column.spec().withLength(field.listLength())
                : column.spec();
        return new Flat(new Column(spec, column.kind(), column.encoding()), isFiner ? type : storedType, leaf,
                listDefinition);
    }

    /** {@inheritDoc} Its values are of the same or a wider type, and of any length if it has another one. */
    @Override
    public @Nullable Flat as(Column united) {
        boolean hasNoValue = leaf.type().id() == ArrowType.Id.NULL && !united.equals(column);
        return hasNoValue ? null : new Flat(united, storedType, leaf, listDefinition);
    }

    @Override
    public List<Leaf> leaves() {
        return List.of(leaf);
    }

    @Override
    public ColumnBlock decode(MappedFile file, RowGroup group, DecodeLimit.Budget budget, DecodeBuffers buffers,
            ColumnBlock.Copy copy) throws IOException {
        try (ChunkDecoder decoder = new ChunkDecoder(file, this, group.chunks().get(leaf.index()), group.rows(),
                buffers, budget)) {
            return decoder.decode(copy);
        }
    }

    /** Tells whether its values are stored in a narrower type. */
    boolean isWidened() {
        DType own = leaf.type().dtype();
        return column.kind() == Column.Kind.NUMBERS && own != null && own != column.spec().dtype();
    }

    boolean isList() {
        return listDefinition > 0;
    }

    /** Returns the size of a value or of a list's element. */
    int byteSize() {
        return leaf.isBinary() ? 1 : column.kind() == Column.Kind.BYTES ? leaf.storedBytes()
                : column.spec().dtype().byteSize();
    }

    /** Returns the length of every list; -1 if it varies. */
    long listLength() {
        return isList() && !column.spec().isVariable() ? column.spec().dim(0) : -1;
    }
}
