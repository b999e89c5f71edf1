// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.parquet.Nested.Kind;
import io.penstock.format.parquet.Nested.Node;
import io.penstock.format.table.ColumnBlock;
import io.penstock.format.table.JsonRows;
import io.penstock.format.table.JsonText;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import java.io.IOException;

/**
 * Assembles the rows of a nested column from the levels of its leaves, and writes them as JSON. For one thread and one
 * row group.
 *
 * <p>Every leaf has an entry for each value, and one for each null or empty list above it. So a node's first leaf tells
 * what the node is, and the other leaves must agree. Source: Melnik et al., "Dremel: Interactive Analysis of Web-Scale
 * Datasets", VLDB 2010, and {@code README.md} of apache/parquet-format.
 */
final class NestedDecoder implements AutoCloseable {

    private final Location file;
    private final Nested column;
    private final long rows;
    private final LeafCursor[] cursors;
    private final DecodeLimit.Budget budget;

    NestedDecoder(MappedFile file, Nested column, RowGroup group, DecodeLimit.Budget budget) {
        this.file = file.location();
        this.budget = budget;
        this.column = column;
        this.rows = group.rows();
        this.cursors = column.leaves().stream().map(leaf -> new LeafCursor(file, leaf,
                group.chunks().get(leaf.index()), budget)).toArray(LeafCursor[]::new);
    }

    ColumnBlock decode(ColumnBlock.Copy copy) throws IOException {
        try (JsonRows texts = new JsonRows(file, column.column().name(), budget)) {
            for (long row = 0; row < rows; row++) {
                for (LeafCursor cursor : cursors) {
                    if (cursor.isAtEnd() || cursor.repetition() != 0) {
                        throw cursor.malformed("levels of " + row + " rows" + (cursor.isAtEnd() ? "" : " and more"),
                                rows + ", as the row group has");
                    }
                    cursor.beginRow();
                }
                JsonText text = texts.begin();
                texts.end(append(text));
            }
            for (LeafCursor cursor : cursors) {
                if (!cursor.isAtEnd()) {
                    throw cursor.malformed("levels of more rows", rows + ", as the row group has");
                }
            }
            return texts.append(copy);
        }
    }

    /** Appends a row; returns its state. */
    private byte append(JsonText text) throws IOException {
        if (cursors[0].definition() < column.root().definition()) {
            skip(column.root());
            return ColumnBlock.NULL;
        }
        try {
            append(column.root(), text);
            return ColumnBlock.PRESENT;
        } catch (CodecException _) {
            for (LeafCursor cursor : cursors) {
                cursor.endRow();
            }
            return ColumnBlock.BAD;
        }
    }

    private void append(Node node, JsonText out) throws IOException {
        int level = cursors[node.firstLeaf()].definition();
        if (level < node.definition()) {
            if (!node.isOptional()) {
                throw disagreement(node);
            }
            skip(node);
            out.nothing();
            return;
        }
        switch (node.kind()) {
            case LEAF -> cursors[node.firstLeaf()].append(out);
            case STRUCT -> struct(node, out);
            case LIST, MAP -> {
                out.sign('[');
                if (level == node.definition()) {
                    skip(node);
                } else {
                    elements(node, out);
                }
                out.sign(']');
            }
        }
    }

    private void struct(Node node, JsonText out) throws IOException {
        out.sign('{');
        for (int c = 0; c < node.children().size(); c++) {
            if (c > 0) {
                out.sign(',');
            }
            out.raw(node.children().get(c).key());
            append(node.children().get(c), out);
        }
        out.sign('}');
    }

    private void elements(Node node, JsonText out) throws IOException {
        boolean more = true;
        while (more) {
            if (node.kind() == Kind.MAP) {
                out.sign('[');
                append(node.children().get(0), out);
                out.sign(',');
                append(node.children().get(1), out);
                out.sign(']');
            } else {
                append(node.children().getFirst(), out);
            }
            more = continues(node);
            if (more) {
                out.sign(',');
            }
        }
    }

    /** Tells whether a list has another element; all leaves must agree. */
    private boolean continues(Node node) throws IOException {
        boolean more = cursors[node.firstLeaf()].begins(node.repetition());
        for (int i = 1; i < node.leafCount(); i++) {
            if (cursors[node.firstLeaf() + i].begins(node.repetition()) != more) {
                throw disagreement(node);
            }
        }
        return more;
    }

    /** Skips the entry that each leaf of a node has for a null or an empty list. */
    private void skip(Node node) throws IOException {
        int level = cursors[node.firstLeaf()].definition();
        for (int i = 0; i < node.leafCount(); i++) {
            LeafCursor cursor = cursors[node.firstLeaf() + i];
            if (cursor.isAtEnd() || cursor.definition() != level) {
                throw disagreement(node);
            }
            cursor.advance();
        }
    }

    private MalformedStoreException disagreement(Node node) {
        return cursors[node.firstLeaf()].malformed("levels of column '" + column.column().name()
                + "' that do not fit those of its other leaves or its schema", "levels of the same rows");
    }

    @Override
    public void close() {
        for (LeafCursor cursor : cursors) {
            cursor.close();
        }
    }
}
