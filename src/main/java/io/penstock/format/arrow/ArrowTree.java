package io.penstock.format.arrow;

import io.penstock.format.JsonText;
import io.penstock.format.arrow.ArrowType.Id;
import io.penstock.store.Column;
import java.util.List;
import java.util.stream.Stream;

/**
 * A column whose values are given as JSON: a tree of arrays.
 *
 * @param column what the store calls it
 * @param storedType what Arrow calls its type
 * @param above the structs that it is a field of, outermost first
 * @param root the array of its values
 * @param size how many arrays it has, those above included
 */
record ArrowTree(Column column, String storedType, List<Node> above, Node root, int size) implements ArrowShape {

    /**
     * An array.
     *
     * @param id its number in the column
     * @param field what it holds
     * @param key the field's name as it is written before a struct's value
     * @param node its position in the batch
     * @param validity its bitmap; null if it has none
     * @param buffers its other buffers
     * @param children the arrays that it is made of
     * @param values what its values are looked up in; null if it holds them itself
     */
    record Node(int id, ArrowField field, byte[] key, int node, Slot validity, List<Slot> buffers,
            List<Node> children, ArrowTree values) {

        /** The child whose number in a union is this; null if there is none. */
        Node ofCode(int code) {
            List<Integer> codes = field.type().codes();
            int index = codes.isEmpty() ? code : codes.indexOf(code);
            return index < 0 || index >= children.size() ? null : children.get(index);
        }

        private Stream<Node> dictionaries() {
            return values != null ? Stream.of(this) : children.stream().flatMap(Node::dictionaries);
        }
    }

    /** The arrays of indices into dictionaries. */
    List<Node> dictionaries() {
        return root.dictionaries().toList();
    }

    @Override
    public List<ArrowField.Dictionary> indexes() {
        return root.dictionaries().flatMap(node -> Stream.concat(Stream.of(node.field().dictionary()),
                node.values().indexes().stream())).toList();
    }

    /** Only a null, a run and what is made of them take no space. */
    @Override
    public boolean hasWeight() {
        return hasWeight(root);
    }

    private static boolean hasWeight(Node node) {
        return node.values() != null || switch (node.field().type().id()) {
            case NULL, RUN_END_ENCODED -> false;
            case STRUCT -> node.children().stream().anyMatch(ArrowTree::hasWeight);
            case FIXED_SIZE_LIST -> node.field().type().size() > 0 && hasWeight(node.children().getFirst());
            case FIXED_SIZE_BINARY -> node.field().type().size() > 0;
            default -> true;
        };
    }

    @Override
    public ArrowJson open(DecodedBuffers decoded) {
        return new ArrowJson(this, decoded);
    }

    /** Why a field cannot be read even as JSON; null if it can. */
    static String reasonAgainst(ArrowField field) {
        ArrowType type = field.type();
        if (type.id() == Id.DECIMAL && (type.bits() != 32 && type.bits() != 64 && type.bits() != 128
                && type.bits() != 256 || Math.abs((long) type.size()) > JsonText.MAX_SCALE)) {
            return "a " + type.text();
        }
        if (type.id() == Id.MAP && (field.children().getFirst().type().id() != Id.STRUCT
                || field.children().getFirst().children().size() != 2)) {
            return "a map that has no keys and values";
        }
        if (type.id() == Id.RUN_END_ENCODED && (field.children().getFirst().type().id() != Id.INT
                || field.children().getFirst().dictionary() != null)) {
            return "runs whose ends are no integers";
        }
        for (ArrowField child : field.children()) {
            String reason = reasonAgainst(child);
            if (reason != null) {
                return reason;
            }
        }
        return null;
    }
}
