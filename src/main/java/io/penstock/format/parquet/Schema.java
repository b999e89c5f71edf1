package io.penstock.format.parquet;

import io.penstock.format.arrow.ArrowField;
import io.penstock.format.arrow.EmbeddedSchema;
import io.penstock.format.parquet.SchemaNode.Repetition;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The columns of a schema: its leaves, named by the path of structs that they are in, {@code image.bytes} for instance,
 * and its lists of numbers, named as the list. Other lists, maps, decimals and {@code INT96} are given as JSON.
 *
 * <p>A list is a group {@code LIST} with a repeated child; whether that child is the element or holds it follows the
 * rules for backward compatibility in {@code LogicalTypes.md} of apache/parquet-format. A repeated leaf without such a
 * group is a list too.
 */
final class Schema {

    private final List<ParquetColumn> columns = new ArrayList<>();
    private final List<Unread> unread = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final SchemaNode root;
    /** What Arrow wrote of the schema, by the names of columns; none if it did not write the file. */
    private final Map<String, ArrowField> refinements = new HashMap<>();
    private final List<ArrowField> arrow;
    private int nextIndex;

    /**
     * A column that cannot be read.
     *
     * @param name its name
     * @param type what Arrow calls its type
     * @param reason why
     */
    record Unread(String name, String type, String reason) {
    }

    /**
     * The columns of a file.
     *
     * @param root of its schema
     * @param arrow the fields of the schema that Arrow put beside it; none if it did not, or if it is of no use
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

    /** The columns that can be read, in the order of the file. */
    List<ParquetColumn> columns() {
        return columns;
    }

    /** A column that looked as if it could be read cannot be. */
    void pass(ParquetColumn column, String reason) {
        columns.remove(column);
        unread.add(new Unread(column.column().name(), column.storedType(), reason));
    }

    /** What cannot be read. */
    List<Unread> unread() {
        return unread;
    }

    /** A line a column of the file, in Arrow's words: {@code name: type}. */
    List<String> lines() {
        if (!arrow.isEmpty()) {
            return arrow.stream().map(field -> field.name() + ": " + field.typeText()
                    + (field.isNullable() ? "" : " not null")).toList();
        }
        return root.children().stream().map(child -> child.name() + ": " + ArrowNames.of(child)
                + (child.is(Repetition.REQUIRED) ? " not null" : "")).toList();
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
        if (node.isLeaf()) {
            boolean list = node.is(Repetition.REPEATED);
            add(node, node, name, below, list ? below : 0, definition);
        } else if (node.is(Annotation.Meaning.LIST) && !node.is(Repetition.REPEATED)) {
            visitList(node, name, below, definition);
        } else if (node.is(Repetition.REPEATED) || node.is(Annotation.Meaning.MAP)) {
            addNested(node, name, definition);
        } else {
            for (SchemaNode child : node.children()) {
                visit(child, name + ".", below);
            }
        }
    }

    private void visitList(SchemaNode list, String name, int definition, int above) {
        SchemaNode element = elementOf(list);
        if (element == null || !element.isLeaf()) {
            addNested(list, name, above);
            return;
        }
        add(list, element, name, definition + 1 + (element.is(Repetition.OPTIONAL) ? 1 : 0), definition + 1, above);
    }

    /** The group of key and value of a map; null if it has none. */
    static SchemaNode pairOf(SchemaNode map) {
        SchemaNode pair = map.children().size() == 1 ? map.children().getFirst() : null;
        return pair != null && pair.is(Repetition.REPEATED) && pair.children().size() == 2 ? pair : null;
    }

    /** The element of a list: the repeated node itself, or what it holds; null if there is none. */
    static SchemaNode elementOf(SchemaNode list) {
        if (list.children().size() != 1 || !list.children().getFirst().is(Repetition.REPEATED)) {
            return null;
        }
        SchemaNode repeated = list.children().getFirst();
        boolean isElement = repeated.isLeaf() || repeated.children().size() != 1
                || repeated.children().getFirst().is(Repetition.REPEATED) || repeated.name().equals("array")
                || repeated.name().equals(list.name() + "_tuple");
        return isElement ? repeated : repeated.children().getFirst();
    }

    /** Adds a leaf, or the list that it is the element of; the node is given as JSON unless it is numbers or bytes. */
    private void add(SchemaNode node, SchemaNode leaf, String name, int maxDefinition, int listDefinition,
            int above) {
        Leaf.Type type = Leaf.Type.of(leaf);
        boolean list = listDefinition > 0;
        if (type == null || list && type.kind() != Column.Kind.NUMBERS) {
            addNested(node, name, above);
            return;
        }
        if (type.storedBytes() > LeafTiles.MAX_VALUE_BYTES) {
            pass(leaf, name, "values of " + type.storedBytes() + " bytes");
            return;
        }
        if (!names.add(name)) {
            pass(leaf, name, "a second column of this name");
            return;
        }
        TensorSpec spec = list ? new TensorSpec(name, type.dtype(), TensorSpec.VARIABLE)
                : type.kind() == Column.Kind.NUMBERS ? new TensorSpec(name, type.dtype())
                : new TensorSpec(name, type.dtype(), type.storedBytes() > 0 ? type.storedBytes()
                        : TensorSpec.VARIABLE);
        Physical physical = type.kind() != Column.Kind.NUMBERS && type.storedBytes() == 0 ? Physical.BYTE_ARRAY
                : leaf.physical();
        Leaf found = new Leaf(nextIndex++, new Column(spec, type.kind(), type.encoding()), physical,
                type.storedBytes(), type.arrow(), maxDefinition, listDefinition);
        ArrowField refinement = refinements.get(name);
        columns.add(refinement == null ? found : found.refined(refinement));
    }

    private void addNested(SchemaNode node, String name, int above) {
        String reason = Nested.reasonAgainst(node);
        if (reason == null && !names.add(name)) {
            reason = "a second column of this name";
        }
        if (reason != null) {
            pass(node, name, reason);
            return;
        }
        columns.add(Nested.of(name, node, above, nextIndex));
        nextIndex += node.leafCount();
    }

    private void pass(SchemaNode node, String name, String reason) {
        unread.add(new Unread(name, ArrowNames.of(node), reason));
        nextIndex += node.leafCount();
    }
}
