// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.format.arrow.ArrowField;
import io.penstock.format.parquet.SchemaNode.Repetition;
import io.penstock.format.table.UnreadColumn;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a schema: its leaves, named by the path of their structs, such as {@code image.bytes}, and its lists
 * of numbers, named as the list. Other lists, maps, decimals and {@code INT96} are given as JSON.
 *
 * <p>A list is a group {@code LIST} with a repeated child; whether that child is the element or holds it follows the
 * rules for backward compatibility in {@code LogicalTypes.md} of apache/parquet-format. A repeated leaf without such a
 * group is a list too.
 */
final class Schema {

    private final List<ParquetColumn> columns = new ArrayList<>();
    private final List<UnreadColumn> unread = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final SchemaNode root;
    /** The fields of Arrow's schema by column; empty if there is none. */
    private final Map<String, ArrowField> refinements = new HashMap<>();
    private final List<ArrowField> arrow;
    private int nextIndex;

    /**
     * Creates the columns of a file; {@code arrow} has the fields of Arrow's schema, none if it is missing or unusable.
     */
    Schema(SchemaNode root, List<ArrowField> arrow) {
        this.root = root;
        this.arrow = arrow.stream().map(ArrowField::name).toList()
                .equals(root.children().stream().map(SchemaNode::name).toList()) ? arrow : List.of();
        this.arrow.forEach(field -> collect(field, ""));
        for (SchemaNode child : root.children()) {
            visit(child, "", 0);
        }
    }

    SchemaNode root() {
        return root;
    }

    /** Returns the readable columns in the order of the file. */
    List<ParquetColumn> columns() {
        return columns;
    }

    /** Excludes a column that looked readable. */
    void pass(ParquetColumn column, String reason) {
        columns.remove(column);
        unread.add(new UnreadColumn(column.column().name(), column.storedType(), reason));
    }

    List<UnreadColumn> unread() {
        return unread;
    }

    /** Returns a line per column of the file, in Arrow's terms: {@code name: type}. */
    List<String> lines() {
        if (!arrow.isEmpty()) {
            return arrow.stream().map(ArrowField::text).toList();
        }
        return root.children().stream().map(ArrowNames::field).toList();
    }

    /** Returns the field id of each column, and of each struct, that the file gives one, by name. */
    Map<String, Object> fieldIds() {
        Map<String, Object> ids = new LinkedHashMap<>();
        root.children().forEach(child -> collectIds(child, "", ids));
        return ids;
    }

    private static void collectIds(SchemaNode node, String prefix, Map<String, Object> ids) {
        if (node.fieldId() >= 0) {
            ids.putIfAbsent(prefix + node.name(), (long) node.fieldId());
        }
        if (!node.is(Annotation.Meaning.LIST) && !node.is(Annotation.Meaning.MAP)) {
            node.children().forEach(child -> collectIds(child, prefix + node.name() + ".", ids));
        }
    }

    private void collect(ArrowField field, String prefix) {
        refinements.putIfAbsent(prefix + field.name(), field);
        if (field.typeText().startsWith("struct<")) {
            field.children().forEach(child -> collect(child, prefix + field.name() + "."));
        }
    }

    private void visit(SchemaNode node, String prefix, int definition) {
        String name = prefix + node.name();
        int below = definition + (node.is(Repetition.REQUIRED) ? 0 : 1);
        SchemaNode element = elementOf(node);
        if (node.isLeaf()) {
            boolean list = node.is(Repetition.REPEATED);
            add(node, node, name, below, list ? below : 0, definition);
        } else if (element != null && element.isLeaf() && !node.is(Repetition.REPEATED)) {
            add(node, element, name, below + 1 + (element.is(Repetition.OPTIONAL) ? 1 : 0), below + 1, definition);
        } else if (node.is(Repetition.REPEATED) || node.is(Annotation.Meaning.LIST)
                || node.is(Annotation.Meaning.MAP)) {
            addNested(node, name, definition);
        } else {
            for (SchemaNode child : node.children()) {
                visit(child, name + ".", below);
            }
        }
    }

    /** Returns the group of key and value of a map; null if it has none. */
    static @Nullable SchemaNode pairOf(SchemaNode map) {
        SchemaNode pair = repeatedOf(map);
        return pair != null && pair.children().size() == 2 ? pair : null;
    }

    /** Returns the only child, if it is repeated; otherwise null. */
    private static @Nullable SchemaNode repeatedOf(SchemaNode group) {
        SchemaNode child = group.children().size() == 1 ? group.children().getFirst() : null;
        return child != null && child.is(Repetition.REPEATED) ? child : null;
    }

    /**
     * Returns the element of a list: the repeated node itself, or its child; null if the node is no list. A map without
     * values is a list of its keys.
     */
    static @Nullable SchemaNode elementOf(SchemaNode list) {
        SchemaNode repeated = list.is(Annotation.Meaning.LIST) || list.is(Annotation.Meaning.MAP)
                && pairOf(list) == null ? repeatedOf(list) : null;
        if (repeated == null) {
            return null;
        }
        boolean isElement = repeated.isLeaf() || repeated.children().size() != 1
                || repeated.children().getFirst().is(Repetition.REPEATED) || repeated.name().equals("array")
                || repeated.name().equals(list.name() + "_tuple");
        return isElement ? repeated : repeated.children().getFirst();
    }

    /** Adds a leaf, or the list of it; as JSON unless it is numbers or bytes. */
    private void add(SchemaNode node, SchemaNode leaf, String name, int maxDefinition, int listDefinition, int above) {
        Flat found = Flat.of(name, leaf, Leaf.of(leaf, nextIndex, maxDefinition, listDefinition > 0 ? 1 : 0),
                listDefinition);
        ArrowField refinement = refinements.get(name);
        if (found == null) {
            addNested(node, name, above);
        } else {
            add(node, refinement == null ? found : found.refined(refinement), Leaf.reasonAgainst(leaf));
        }
    }

    private void addNested(SchemaNode node, String name, int above) {
        add(node, Nested.of(name, node, above, nextIndex), Nested.reasonAgainst(node));
    }

    /** Adds a column, unless there is a reason against it. */
    private void add(SchemaNode node, ParquetColumn column, @Nullable String reason) {
        String name = column.column().name();
        if (reason != null || !names.add(name)) {
            unread.add(new UnreadColumn(name, ArrowNames.of(node),
                    reason == null ? "a second column of this name" : reason));
        } else {
            columns.add(column);
        }
        nextIndex += node.leafCount();
    }
}
