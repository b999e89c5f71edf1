package io.penstock.format.parquet;

import io.penstock.format.parquet.SchemaNode.Repetition;
import java.util.stream.Collectors;

/** What Arrow calls the types of a schema's nodes: {@code struct<bytes: binary, path: string>}. */
final class ArrowNames {

    private ArrowNames() {
    }

    /** The type's name. */
    static String of(SchemaNode node) {
        if (node.is(Annotation.Meaning.LIST) && !node.isLeaf()) {
            SchemaNode element = Schema.elementOf(node);
            return element == null ? struct(node) : "list<" + field(element, element.name()) + ">";
        }
        String single = node.isLeaf() ? leaf(node) : node.is(Annotation.Meaning.MAP) ? map(node) : struct(node);
        return node.is(Repetition.REPEATED) ? "list<" + node.name() + ": " + single + " not null>" : single;
    }

    private static String field(SchemaNode node, String name) {
        // A repeated node that is a list's element is that list, not another one.
        SchemaNode single = node.is(Repetition.REPEATED) ? new SchemaNode(name, node.physical(), node.typeLength(),
                Repetition.REQUIRED, node.annotation(), node.decimals(), node.children()) : node;
        return name + ": " + of(single) + (single.is(Repetition.REQUIRED) ? " not null" : "");
    }

    private static String map(SchemaNode node) {
        if (node.children().size() == 1 && node.children().getFirst().children().size() == 2) {
            return "map<" + node.children().getFirst().children().stream().map(ArrowNames::of)
                    .collect(Collectors.joining(", ")) + ">";
        }
        return struct(node);
    }

    private static String struct(SchemaNode node) {
        return node.children().stream().map(child -> field(child, child.name()))
                .collect(Collectors.joining(", ", "struct<", ">"));
    }

    private static String leaf(SchemaNode node) {
        Leaf.Type type = Leaf.Type.of(node);
        if (type != null) {
            return type.arrow();
        }
        return node.is(Annotation.Meaning.DECIMAL) ? "decimal128(" + node.decimals() + ")" : "timestamp[ns]";
    }
}
