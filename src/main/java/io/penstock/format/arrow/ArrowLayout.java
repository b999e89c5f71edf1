package io.penstock.format.arrow;

import io.penstock.format.JsonText;
import io.penstock.format.arrow.ArrowLeaf.Layout;
import io.penstock.format.arrow.ArrowLeaf.Level;
import io.penstock.format.arrow.ArrowShape.Slot;
import io.penstock.format.arrow.ArrowTree.Node;
import io.penstock.format.arrow.ArrowType.Id;
import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The walk over a schema that says which nodes and buffers of a batch are whose: depth first, each array's node before
 * those of its children, and of its buffers the bitmap of nulls first. A struct's fields become columns of their own,
 * {@code image.bytes}; what is neither numbers nor bytes nor text is given as JSON.
 */
final class ArrowLayout {

    /**
     * A column that is in the file but cannot be given.
     *
     * @param name its name
     * @param type its type
     * @param reason why
     */
    record Unsupported(String name, String type, String reason) {
    }

    /** What structs within structs may add up to. */
    private static final int MAX_NAME_CHARS = 1 << 12;

    private final List<ArrowShape> columns = new ArrayList<>();
    private final List<Unsupported> unsupported = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private int nodes;
    private int buffers;
    private int views;
    private int older;

    private ArrowLayout() {
    }

    /** The layout of a schema. */
    static ArrowLayout of(List<ArrowField> fields) {
        ArrowLayout layout = new ArrowLayout();
        for (ArrowField field : fields) {
            layout.walk(field, field.name(), List.of());
        }
        return layout;
    }

    List<ArrowShape> columns() {
        return columns;
    }

    List<Unsupported> unsupported() {
        return unsupported;
    }

    private void refuse(ArrowField field, String name, String reason) {
        unsupported.add(new Unsupported(name, field.typeText(), reason));
        // For the nodes and buffers that are counted.
        node(field, new int[1]);
    }

    private Slot slot() {
        return new Slot(buffers++, views, older, false);
    }

    /** The bitmap of an array that has none but in metadata of the fourth version. */
    private Slot olderSlot() {
        return new Slot(buffers, views, older++, true);
    }

    private static List<Level> and(List<Level> levels, Level level) {
        List<Level> more = new ArrayList<>(levels);
        more.add(level);
        return more;
    }

    private void walk(ArrowField field, String name, List<Level> above) {
        boolean struct = field.type().id() == Id.STRUCT && field.dictionary() == null;
        if (name.length() > MAX_NAME_CHARS) {
            refuse(field, name.substring(0, MAX_NAME_CHARS), "a name of more than " + MAX_NAME_CHARS + " characters");
        } else if (!struct && !names.add(name)) {
            refuse(field, name, "a second column of this name");
        } else if (field.dictionary() != null) {
            dictionary(field, name, above);
        } else {
            values(field, name, above);
        }
    }

    private void dictionary(ArrowField field, String name, List<Level> above) {
        if (dictionaryOf(field) instanceof ArrowLeaf values) {
            List<Level> levels = and(above, new Level(nodes++, slot(), 1, false, false));
            columns.add(new ArrowLeaf(values.column(), values.storedType(), Layout.DICTIONARY, levels, null, 0, null,
                    slot(), field.dictionary().index().bits() / Byte.SIZE, -1, 0, field.dictionary(), values));
        } else {
            json(field, name, above);
        }
    }

    /** What the values of a dictionary are: a column of their own, in batches of their own. */
    private static ArrowShape dictionaryOf(ArrowField field) {
        ArrowLayout inner = new ArrowLayout();
        if (field.type().id() != Id.STRUCT) {
            inner.walk(field.values(), field.name(), List.of());
            if (inner.columns.size() == 1 && inner.columns.getFirst() instanceof ArrowLeaf leaf) {
                return leaf;
            }
        }
        return treeOf(field.values());
    }

    private static ArrowTree treeOf(ArrowField field) {
        int[] ids = new int[1];
        Node root = new ArrowLayout().node(field, ids);
        return new ArrowTree(Column.text(field.name(), "json"), field.typeText(), List.of(), root, ids[0]);
    }

    private void values(ArrowField field, String name, List<Level> above) {
        switch (field.type().id()) {
            case NULL -> {
                nodes++;
                columns.add(new ArrowLeaf(Column.bytes(name, ""), "null", Layout.NONE, List.of(), null, 0, null, null,
                        0, -1, 0, null, null));
            }
            case STRUCT -> {
                List<Level> levels = and(above, new Level(nodes++, slot(), 1, false, false));
                field.children().forEach(child -> walk(child, name + "." + child.name(), levels));
            }
            case BINARY, LARGE_BINARY, UTF8, LARGE_UTF8, BINARY_VIEW, UTF8_VIEW -> text(field, name, above);
            case LIST, LARGE_LIST, LIST_VIEW, LARGE_LIST_VIEW -> list(field, name, above);
            case FIXED_SIZE_BINARY -> {
                List<Level> levels = and(above, new Level(nodes++, slot(), 1, false, false));
                Column column = new Column(new TensorSpec(name, DType.U8, field.type().size()), Column.Kind.BYTES, "");
                columns.add(new ArrowLeaf(column, field.typeText(), Layout.FIXED, levels, null, 0, null, slot(),
                        field.type().size(), -1, 0, null, null));
            }
            default -> {
                if (areNumbers(field)) {
                    Items items = items(field, 1, false, false, above);
                    columns.add(new ArrowLeaf(Column.numbers(name, items.dtype, items.shape()), items.storedType,
                            Layout.FIXED, items.levels, null, 0, null, items.data, items.bytes(), -1, items.bits(),
                            null, null));
                } else {
                    json(field, name, above);
                }
            }
        }
    }

    /** A column that is given as JSON; the levels above it are structs. */
    private void json(ArrowField field, String name, List<Level> above) {
        String reason = ArrowTree.reasonAgainst(field);
        if (reason != null) {
            refuse(field, name, reason);
            return;
        }
        int[] ids = new int[1];
        List<Node> structs = above.stream().map(level -> new Node(ids[0]++, null, null, level.node(), level.validity(),
                List.of(), List.of(), null)).toList();
        Node root = node(field, ids);
        columns.add(new ArrowTree(Column.text(name, "json"), field.typeText(), structs, root, ids[0]));
    }

    /** Counts the nodes and buffers of a field, and says which are whose. */
    private Node node(ArrowField field, int[] ids) {
        int id = ids[0]++;
        int node = nodes++;
        ArrowTree values = field.dictionary() == null ? null : treeOf(field.values());
        Id type = values == null ? field.type().id() : Id.INT;
        Slot validity = switch (type) {
            case NULL -> null;
            case UNION, RUN_END_ENCODED -> olderSlot();
            default -> slot();
        };
        List<Slot> own = new ArrayList<>();
        int count = switch (type) {
            case NULL, STRUCT, FIXED_SIZE_LIST, RUN_END_ENCODED -> 0;
            case BINARY, LARGE_BINARY, UTF8, LARGE_UTF8, LIST_VIEW, LARGE_LIST_VIEW -> 2;
            case UNION -> field.type().isDense() ? 2 : 1;
            default -> 1;
        };
        for (int i = 0; i < count; i++) {
            own.add(slot());
        }
        views += type == Id.BINARY_VIEW || type == Id.UTF8_VIEW ? 1 : 0;
        List<Node> children = new ArrayList<>();
        for (ArrowField child : values == null ? field.children() : List.<ArrowField>of()) {
            children.add(node(child, ids));
        }
        return new Node(id, field, JsonText.key(field.name()), node, validity, List.copyOf(own),
                List.copyOf(children), values);
    }

    private void text(ArrowField field, String name, List<Level> above) {
        List<Level> levels = and(above, new Level(nodes++, slot(), 1, false, false));
        ArrowType type = field.type();
        boolean view = type.id() == Id.BINARY_VIEW || type.id() == Id.UTF8_VIEW;
        int offsetBytes = type.isLarge() ? Long.BYTES : Integer.BYTES;
        Slot offsets = slot();
        columns.add(new ArrowLeaf(type.isText() ? Column.text(name, "") : Column.bytes(name, ""), field.typeText(),
                view ? Layout.VIEW : Layout.VARIABLE, levels, offsets, offsetBytes, null, view ? null : slot(), 1, -1,
                0, null, null));
        views += view ? 1 : 0;
    }

    private void list(ArrowField field, String name, List<Level> above) {
        List<Long> dims = field.shape();
        boolean shaped = dims.size() > 1 && dims.stream().skip(1).allMatch(dim -> dim > 0 && dim <= Integer.MAX_VALUE);
        ArrowField child = field.children().getFirst();
        if (shaped) {
            child = regular(child, dims.subList(1, dims.size()));
        }
        if (!areNumbers(child)) {
            json(field, name, above);
            return;
        }
        Id type = field.type().id();
        List<Level> levels = and(above, new Level(nodes++, slot(), 1, false, false));
        Slot offsets = slot();
        Slot sizes = type == Id.LIST_VIEW || type == Id.LARGE_LIST_VIEW ? slot() : null;
        Items items = items(child, 1, true, false, levels);
        long count = shaped && dims.getFirst() >= 0 ? dims.getFirst() : -1;
        long[] shape = new long[items.dims.size() + 1];
        shape[0] = count < 0 ? TensorSpec.VARIABLE : count;
        System.arraycopy(items.shape(), 0, shape, 1, items.dims.size());
        columns.add(new ArrowLeaf(Column.numbers(name, items.dtype, shape), items.storedType, Layout.VARIABLE,
                items.levels, offsets, field.type().isLarge() ? Long.BYTES : Integer.BYTES, sizes, items.data,
                items.bytes(), count, items.bits(), null, null));
    }

    /** Lists of lists whose lengths a shape says: each gets its length as its type's size. */
    private static ArrowField regular(ArrowField field, List<Long> dims) {
        if (dims.isEmpty() || field.type().id() != Id.LIST && field.type().id() != Id.LARGE_LIST) {
            return field;
        }
        ArrowType type = new ArrowType(field.type().id(), 0, false, dims.getFirst().intValue(), field.type().text());
        return new ArrowField(field.name(), field.isNullable(), type, field.dictionary(),
                List.of(regular(field.children().getFirst(), dims.subList(1, dims.size()))), List.of());
    }

    /** Whether a field is lists of one length. */
    private static boolean isSized(ArrowField field) {
        Id id = field.type().id();
        return id == Id.FIXED_SIZE_LIST || (id == Id.LIST || id == Id.LARGE_LIST) && field.type().size() > 0;
    }

    /** Whether values of a field are numbers, or each the same number of numbers. */
    private static boolean areNumbers(ArrowField field) {
        long elements = 1;
        ArrowField item = field;
        while (isSized(item) && item.dictionary() == null && elements <= Integer.MAX_VALUE) {
            elements *= item.type().size();
            item = item.children().getFirst();
        }
        return item.dictionary() == null && item.type().dtype() != null && elements <= Integer.MAX_VALUE;
    }

    /** Numbers of a fixed count: a value of a column, or an item of a list. */
    private record Items(DType dtype, String storedType, List<Long> dims, List<Level> levels, Slot data) {

        long[] shape() {
            return dims.stream().mapToLong(Long::longValue).toArray();
        }

        long elements() {
            return dims.stream().mapToLong(Long::longValue).reduce(1, (a, b) -> a * b);
        }

        long bytes() {
            return elements() * dtype.byteSize();
        }

        long bits() {
            return dtype == DType.BOOL ? elements() : 0;
        }
    }

    private Items items(ArrowField field, long perRow, boolean inItems, boolean isRegularItem, List<Level> above) {
        List<Level> levels = and(above, new Level(nodes++, slot(), perRow, inItems, isRegularItem));
        if (!isSized(field)) {
            DType dtype = field.type().dtype();
            return new Items(dtype, dtype == DType.BOOL ? "bool (bit-packed)" : field.typeText(), List.of(), levels,
                    slot());
        }
        boolean regular = field.type().id() != Id.FIXED_SIZE_LIST;
        buffers += regular ? 1 : 0;
        Items inner = items(field.children().getFirst(), perRow * field.type().size(), inItems, regular, levels);
        List<Long> dims = new ArrayList<>(List.of((long) field.type().size()));
        dims.addAll(inner.dims);
        return new Items(inner.dtype, inner.storedType, dims, inner.levels, inner.data);
    }
}
