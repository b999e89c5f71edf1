// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.format.parquet.SchemaNode.Repetition;
import io.penstock.format.table.ColumnBlock;
import io.penstock.format.table.JsonText;
import io.penstock.io.DecodeLimit;
import io.penstock.io.MappedFile;
import io.penstock.store.Column;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A column whose values are given as JSON: a node of the schema with its descendants.
 *
 * @param storedType Arrow's name of its type
 */
record Nested(Column column, String storedType, Node root, List<Leaf> leaves) implements ParquetColumn {

    enum Kind { LEAF, STRUCT, LIST, MAP }

    /**
     * A node.
     *
     * @param key its name as JSON, before a struct's value
     * @param definition the least definition level at which it is not null
     * @param repetition for a list or a map, the level at which another element begins; {@code definition + 1} is the
     *     least definition level at which it has one
     * @param firstLeaf the first of its leaves, counted in the column
     * @param children a struct's fields, a list's element, or a map's key and value
     */
    record Node(Kind kind, byte[] key, boolean isOptional, int definition, int repetition, int firstLeaf,
            int leafCount, List<Node> children) {
    }

    /**
     * Returns the column of a node; {@code definition} is its parent's level, {@code firstIndex} its first leaf in the
     * schema.
     */
    static Nested of(String name, SchemaNode node, int definition, int firstIndex) {
        List<Leaf> leaves = new ArrayList<>();
        Node root = build(node, definition, 0, firstIndex, leaves);
        return new Nested(Column.text(name, "json"), ArrowNames.of(node), root, List.copyOf(leaves));
    }

    private static Node build(SchemaNode node, int definition, int repetition, int firstIndex, List<Leaf> leaves) {
        if (node.is(Repetition.REPEATED)) {
            // A list that no group says is one.
            int first = leaves.size();
            Node element = single(node, false, definition + 1, repetition + 1, firstIndex, leaves);
            return new Node(Kind.LIST, JsonText.key(node.name()), false, definition, repetition + 1, first,
                    leaves.size() - first, List.of(element));
        }
        boolean optional = node.is(Repetition.OPTIONAL);
        return single(node, optional, definition + (optional ? 1 : 0), repetition, firstIndex, leaves);
    }

    /** Returns a node, repeated or not. */
    private static Node single(SchemaNode node, boolean optional, int definition, int repetition, int firstIndex,
            List<Leaf> leaves) {
        int first = leaves.size();
        List<Node> children = new ArrayList<>();
        Kind kind = Kind.STRUCT;
        SchemaNode element = Schema.elementOf(node);
        SchemaNode pair = node.is(Annotation.Meaning.MAP) ? Schema.pairOf(node) : null;
        if (node.isLeaf()) {
            kind = Kind.LEAF;
            leaves.add(Leaf.of(node, firstIndex + leaves.size(), definition, repetition));
        } else if (element != null) {
            kind = Kind.LIST;
            children.add(element == node.children().getFirst()
                    ? single(element, false, definition + 1, repetition + 1, firstIndex, leaves)
                    : build(element, definition + 1, repetition + 1, firstIndex, leaves));
        } else if (pair != null) {
            kind = Kind.MAP;
            for (SchemaNode child : pair.children()) {
                children.add(build(child, definition + 1, repetition + 1, firstIndex, leaves));
            }
        } else {
            for (SchemaNode child : node.children()) {
                children.add(build(child, definition, repetition, firstIndex, leaves));
            }
        }
        boolean many = kind == Kind.LIST || kind == Kind.MAP;
        return new Node(kind, JsonText.key(node.name()), optional, definition, many ? repetition + 1 : repetition,
                first, leaves.size() - first, List.copyOf(children));
    }

    /** Returns why a node cannot be read even as JSON; null if it can. */
    static @Nullable String reasonAgainst(SchemaNode node) {
        if (node.isLeaf()) {
            return Leaf.reasonAgainst(node);
        }
        if (node.children().isEmpty()) {
            return "a group without fields";
        }
        for (SchemaNode child : node.children()) {
            String reason = reasonAgainst(child);
            if (reason != null) {
                return reason;
            }
        }
        return null;
    }

    /** {@inheritDoc} Lists of nulls alone are read as lists of numbers, which are empty or have a null. */
    @Override
    public @Nullable ParquetColumn as(Column united) {
        if (united.equals(column)) {
            return this;
        }
        Leaf nulls = leaves.getFirst();
        boolean isList = root.kind() == Kind.LIST && root.children().getFirst().kind() == Kind.LEAF
                && united.kind() == Column.Kind.NUMBERS && united.spec().rank() == 1;
        return !isList ? null : new Flat(united, storedType, new Leaf(nulls.index(), Physical.INT32, Integer.BYTES,
                nulls.maxDefinition(), nulls.maxRepetition(), nulls.type()), root.definition() + 1);
    }

    @Override
    public ColumnBlock decode(MappedFile file, RowGroup group, DecodeLimit.Budget budget, DecodeBuffers buffers,
            ColumnBlock.Copy copy) throws IOException {
        try (NestedDecoder decoder = new NestedDecoder(file, this, group, budget)) {
            return decoder.decode(copy);
        }
    }
}
