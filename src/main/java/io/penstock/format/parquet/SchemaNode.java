package io.penstock.format.parquet;

import io.penstock.io.MalformedStoreException;
import java.util.ArrayList;
import java.util.List;

/**
 * A node of a schema: a group of others, or a leaf, whose values are a column.
 *
 * @param name its name among its siblings
 * @param physical the type of a leaf's values; null for a group
 * @param typeLength bytes of a value of fixed length
 * @param repetition how often it occurs in its parent
 * @param annotation what it means
 * @param decimals of a decimal: how it prints, {@code precision, scale}; {@code ""} for any other
 * @param children of a group
 */
record SchemaNode(String name, Physical physical, int typeLength, Repetition repetition, Annotation annotation,
        String decimals, List<SchemaNode> children) {

    /** How often a node occurs in its parent. */
    enum Repetition { REQUIRED, OPTIONAL, REPEATED }

    private static final int MAX_DEPTH = 64;

    /** What the footer has for a node; how many of those that follow are its children. */
    private record Element(String name, Physical physical, int typeLength, Repetition repetition,
            Annotation annotation, String decimals, int childCount) {
    }

    boolean isLeaf() {
        return physical != null;
    }

    boolean is(Repetition expected) {
        return repetition == expected;
    }

    boolean is(Annotation.Meaning meaning) {
        return annotation.meaning() == meaning;
    }

    /** How many digits of a decimal are behind the point. */
    int scale() {
        return decimals.isEmpty() ? 0 : Integer.parseInt(decimals.substring(decimals.indexOf(' ') + 1));
    }

    /** How many leaves it has, itself included. */
    int leafCount() {
        return isLeaf() ? 1 : children.stream().mapToInt(SchemaNode::leafCount).sum();
    }

    /** Reads the list of a footer that has the nodes depth first; gives the root. */
    static SchemaNode read(ThriftReader in) throws MalformedStoreException {
        int count = in.list(ThriftReader.STRUCT);
        List<Element> elements = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            elements.add(readElement(in, i == 0));
        }
        if (count == 0 || elements.getFirst().physical() != null) {
            throw in.malformed("a schema without a root", "a group first");
        }
        int[] next = {0};
        SchemaNode root = build(in, elements, next, 0);
        if (next[0] != count) {
            throw in.malformed("a schema of " + count + " nodes, of which the root has " + next[0], "all");
        }
        return root;
    }

    private static SchemaNode build(ThriftReader in, List<Element> elements, int[] next, int depth)
            throws MalformedStoreException {
        if (depth > MAX_DEPTH) {
            throw in.malformed("a schema more than " + MAX_DEPTH + " deep", "less");
        }
        Element element = elements.get(next[0]++);
        if (element.childCount() < 0 || element.childCount() > elements.size() - next[0]) {
            throw in.malformed("a schema's node '" + element.name() + "' with " + element.childCount()
                    + " children, where " + (elements.size() - next[0]) + " nodes follow", "at most as many");
        }
        List<SchemaNode> children = new ArrayList<>();
        for (int i = 0; i < element.childCount(); i++) {
            if (next[0] == elements.size()) {
                throw in.malformed("a schema that ends within '" + element.name() + "'", "its children");
            }
            children.add(build(in, elements, next, depth + 1));
        }
        return new SchemaNode(element.name(), element.physical(), element.typeLength(), element.repetition(),
                element.annotation(), element.decimals(), List.copyOf(children));
    }

    private static Element readElement(ThriftReader in, boolean isRoot) throws MalformedStoreException {
        String name = null;
        Physical physical = null;
        int typeLength = 0;
        Repetition repetition = isRoot ? Repetition.REQUIRED : null;
        Annotation converted = Annotation.NONE;
        Annotation logical = Annotation.NONE;
        int childCount = 0;
        int scale = 0;
        int precision = 0;
        int outer = in.beginStruct();
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
                case 10 -> logical = Annotation.read(in);
                default -> in.skip();
            }
        }
        in.endStruct(outer);
        if (name == null || repetition == null) {
            throw in.malformed("a schema's node without name or repetition", "both");
        }
        if (physical != null && childCount != 0) {
            throw in.malformed("a schema's node '" + name + "' with both a type and children", "either");
        }
        if (physical == Physical.FIXED_LEN_BYTE_ARRAY && typeLength <= 0) {
            throw in.malformed("a column '" + name + "' of values of " + typeLength + " bytes", "more than 0");
        }
        Annotation annotation = logical.equals(Annotation.NONE) ? converted : logical;
        return new Element(name, physical, typeLength, isRoot ? Repetition.REQUIRED : repetition, annotation,
                annotation.meaning() == Annotation.Meaning.DECIMAL ? precision + ", " + scale : "", childCount);
    }

    private static <E> E constant(ThriftReader in, E[] constants, String called) throws MalformedStoreException {
        int code = in.i32();
        if (code < 0 || code >= constants.length) {
            throw in.malformed(called + " " + code, "0 to " + (constants.length - 1));
        }
        return constants[code];
    }
}
