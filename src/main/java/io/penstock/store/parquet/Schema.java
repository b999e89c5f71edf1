package io.penstock.store.parquet;

import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.arrow.EmbeddedSchema;
import io.penstock.store.parquet.SchemaNode.Repetition;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The columns of a schema: its leaves, named by the path of structs that they are in, {@code image.bytes} for instance,
 * and its lists of numbers, named as the list. What is nested deeper is not read, and said so.
 *
 * <p>A list is a group {@code LIST} with a repeated child; whether that child is the element or holds it follows the
 * rules for backward compatibility in {@code LogicalTypes.md} of apache/parquet-format. A repeated leaf without such a
 * group is a list too.
 */
final class Schema {

    private final List<Leaf> leaves = new ArrayList<>();
    private final List<Unread> unread = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final SchemaNode root;
    /** What Arrow wrote of the schema, by the names of columns; none if it did not write the file. */
    private final Map<String, EmbeddedSchema.Field> refinements = new HashMap<>();
    private final List<EmbeddedSchema.Field> arrow;
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
    Schema(SchemaNode root, List<EmbeddedSchema.Field> arrow) {
        this.root = root;
        this.arrow = arrow.stream().map(EmbeddedSchema.Field::name).toList()
                .equals(root.children().stream().map(SchemaNode::name).toList()) ? arrow : List.of();
        this.arrow.forEach(field -> collect(field, ""));
        for (SchemaNode child : root.children()) {
            visit(child, "", 0);
        }
    }

    /** The leaves that can be read, in the order of the file. */
    List<Leaf> leaves() {
        return leaves;
    }

    /** What cannot be read, in the order of the file. */
    List<Unread> unread() {
        return unread;
    }

    /** A line a column of the file, in Arrow's words: {@code name: type}. */
    List<String> lines() {
        if (!arrow.isEmpty()) {
            return arrow.stream().map(field -> field.name() + ": " + field.type()
                    + (field.isNullable() ? "" : " not null")).toList();
        }
        return root.children().stream().map(child -> child.name() + ": " + ArrowNames.of(child)
                + (child.is(Repetition.REQUIRED) ? " not null" : "")).toList();
    }

    private void collect(EmbeddedSchema.Field field, String prefix) {
        refinements.putIfAbsent(prefix + field.name(), field);
        if (field.type().startsWith("struct<")) {
            field.children().forEach(child -> collect(child, prefix + field.name() + "."));
        }
    }

    private void visit(SchemaNode node, String prefix, int definition) {
        String name = prefix + node.name();
        int below = definition + (node.is(Repetition.REQUIRED) ? 0 : 1);
        if (node.isLeaf()) {
            add(node, name, below, node.is(Repetition.REPEATED) ? below : 0);
        } else if (node.is(Annotation.Meaning.LIST) && !node.is(Repetition.REPEATED)) {
            visitList(node, name, below);
        } else if (node.is(Repetition.REPEATED) || node.is(Annotation.Meaning.MAP)) {
            pass(node, name, node.is(Annotation.Meaning.MAP) ? "a map" : "a list of structs");
        } else {
            for (SchemaNode child : node.children()) {
                visit(child, name + ".", below);
            }
        }
    }

    private void visitList(SchemaNode list, String name, int definition) {
        SchemaNode element = elementOf(list);
        if (element == null || !element.isLeaf() || element.physical() == Physical.BYTE_ARRAY) {
            pass(list, name, "a list of what is no number");
            return;
        }
        add(element, name, definition + 1 + (element.is(Repetition.OPTIONAL) ? 1 : 0), definition + 1);
    }

    /** The element of a list; null if it is not one that a list of numbers can have. */
    static SchemaNode elementOf(SchemaNode list) {
        if (list.children().size() != 1 || !list.children().getFirst().is(Repetition.REPEATED)) {
            return null;
        }
        SchemaNode repeated = list.children().getFirst();
        boolean isElement = repeated.isLeaf() || repeated.children().size() != 1
                || repeated.name().equals("array") || repeated.name().equals(list.name() + "_tuple");
        SchemaNode element = isElement ? repeated : repeated.children().getFirst();
        return element != repeated && element.is(Repetition.REPEATED) ? null : element;
    }

    private void add(SchemaNode leaf, String name, int maxDefinition, int listDefinition) {
        Leaf.Type type = Leaf.Type.of(leaf);
        boolean list = listDefinition > 0;
        if (type == null || list && type.kind() != Column.Kind.NUMBERS
                || type.storedBytes() > ChunkDecoder.MAX_VALUE_BYTES) {
            pass(leaf, name, list && type != null ? "a list of what is no number" : "of a type that is not read");
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
        EmbeddedSchema.Field refinement = refinements.get(name);
        leaves.add(refinement == null ? found : found.refined(refinement));
    }

    private void pass(SchemaNode node, String name, String reason) {
        unread.add(new Unread(name, ArrowNames.of(node), reason));
        nextIndex += node.leafCount();
    }
}
