// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A node of a schema: a group, or a leaf, whose values are a column.
 *
 * @param physical the type of a leaf's values; null for a group
 * @param typeLength the size of a value of fixed length
 * @param precision the digits of a decimal
 * @param scale the digits of a decimal after the point
 * @param fieldId what a table's schema calls it, whatever its name; -1 if the file does not say
 */
record SchemaNode(String name, @Nullable Physical physical, int typeLength, Repetition repetition,
        Annotation annotation, int precision, int scale, int fieldId, List<SchemaNode> children) {

    enum Repetition { REQUIRED, OPTIONAL, REPEATED }

    private static final int MAX_DEPTH = 64;

    boolean isLeaf() {
        return physical != null;
    }

    boolean is(Repetition expected) {
        return repetition == expected;
    }

    boolean is(Annotation.Meaning meaning) {
        return annotation.meaning() == meaning;
    }

    /** Returns the number of its leaves; 1 for a leaf. */
    int leafCount() {
        return isLeaf() ? 1 : children.stream().mapToInt(SchemaNode::leafCount).sum();
    }

    /** Returns the node, once in its parent. */
    SchemaNode single() {
        return new SchemaNode(name, physical, typeLength, Repetition.REQUIRED, annotation, precision, scale, fieldId,
                children);
    }

    /** Reads a footer's list of the nodes, depth first; returns the root. */
    static SchemaNode read(ThriftReader in) {
        int count = in.list(ThriftReader.STRUCT);
        int[] left = {count};
        SchemaNode root = count == 0 ? null : read(in, left, 0);
        if (root == null || root.isLeaf()) {
            throw in.malformed("a schema without a root", "a group first");
        }
        if (left[0] > 0) {
            throw in.malformed("a schema of " + count + " nodes, of which the root has " + (count - left[0]), "all");
        }
        return root;
    }

    /** Reads a node and its descendants, at most {@code left} nodes. */
    private static SchemaNode read(ThriftReader in, int[] left, int depth) {
        if (depth > MAX_DEPTH) {
            throw in.malformed("a schema more than " + MAX_DEPTH + " deep", "less");
        }
        String name = null;
        Physical physical = null;
        int typeLength = 0;
        Repetition repetition = Repetition.REQUIRED; // Thrift's default: some writers leave it out
        Annotation converted = Annotation.NONE;
        Annotation logical = Annotation.NONE;
        int childCount = 0;
        int scale = 0;
        int precision = 0;
        int fieldId = -1;
        in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> physical = constant(in, Physical.values(), "a physical type");
                case 2 -> typeLength = in.i32();
                case 3 -> repetition = constant(in, Repetition.values(), "a repetition");
                case 4 -> name = in.string();
                case 5 -> childCount = in.i32();
                case 6 -> converted = Annotation.ofConverted(in.i32());
                case 7 -> scale = in.i32();
                case 8 -> precision = in.i32();
                case 9 -> fieldId = in.i32();
                case 10 -> logical = Annotation.read(in);
                default -> in.skip();
            }
        }
        left[0]--;
        if (name == null) {
            throw in.malformed("a schema's node without a name", "one");
        }
        if (physical != null && childCount != 0) {
            throw in.malformed("a schema's node '" + name + "' with both a type and children", "either");
        }
        if (physical == Physical.FIXED_LEN_BYTE_ARRAY && typeLength <= 0) {
            throw in.malformed("a column '" + name + "' of values of " + typeLength + " bytes", "more than 0");
        }
        if (childCount < 0 || childCount > left[0]) {
            throw in.malformed("a schema's node '" + name + "' with " + childCount + " children, where " + left[0]
                    + " nodes follow", "at most as many");
        }
        List<SchemaNode> children = new ArrayList<>();
        for (int i = 0; i < childCount; i++) {
            if (left[0] == 0) {
                throw in.malformed("a schema that ends within '" + name + "'", "its children");
            }
            children.add(read(in, left, depth + 1));
        }
        return new SchemaNode(name, physical, typeLength, depth == 0 ? Repetition.REQUIRED : repetition,
                logical.equals(Annotation.NONE) ? converted : logical, precision, scale, fieldId,
                List.copyOf(children));
    }

    private static <E> E constant(ThriftReader in, E[] constants, String called) {
        int code = in.i32();
        if (code < 0 || code >= constants.length) {
            throw in.malformed(called + " " + code, "0 to " + (constants.length - 1));
        }
        return constants[code];
    }
}
