// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.format.parquet.SchemaNode.Repetition;
import java.util.stream.Collectors;

/** Arrow's names of the types of a schema's nodes: {@code struct<bytes: binary, path: string>}. */
final class ArrowNames {

    static String of(SchemaNode node) {
        SchemaNode element = Schema.elementOf(node);
        if (element != null) {
            // A repeated node that is a list's element is that list, not another one.
            return "list<" + field(element.is(Repetition.REPEATED) ? element.single() : element) + ">";
        }
        if (node.is(Annotation.Meaning.LIST) && !node.isLeaf()) {
            return struct(node);
        }
        SchemaNode pair = node.is(Annotation.Meaning.MAP) ? Schema.pairOf(node) : null;
        String single = node.isLeaf() ? Leaf.typeOf(node).text() : pair == null ? struct(node)
                : pair.children().stream().map(ArrowNames::of).collect(Collectors.joining(", ", "map<", ">"));
        return node.is(Repetition.REPEATED) ? "list<" + node.name() + ": " + single + " not null>" : single;
    }

    /** Returns a field as text: its name, its type, and whether it is required. */
    static String field(SchemaNode node) {
        return node.name() + ": " + of(node) + (node.is(Repetition.REQUIRED) ? " not null" : "");
    }

    private static String struct(SchemaNode node) {
        return node.children().stream().map(ArrowNames::field).collect(Collectors.joining(", ", "struct<", ">"));
    }
}
