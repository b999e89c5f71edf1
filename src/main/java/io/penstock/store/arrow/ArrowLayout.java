package io.penstock.store.arrow;

import io.penstock.memory.DType;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.arrow.ArrowLeaf.Layout;
import io.penstock.store.arrow.ArrowLeaf.Level;
import io.penstock.store.arrow.ArrowLeaf.Slot;
import io.penstock.store.arrow.ArrowType.Id;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The walk over a schema that says which nodes and buffers of a batch are whose: depth first, each array's node before
 * those of its children, and of its buffers the bitmap of nulls first. A struct's fields become columns of their own,
 * {@code image.bytes}.
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

    private final List<ArrowLeaf> leaves = new ArrayList<>();
    private final List<Unsupported> unsupported = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final boolean isBeforeV5;
    private int nodes;
    private int buffers;
    private int views;

    private ArrowLayout(boolean isBeforeV5) {
        this.isBeforeV5 = isBeforeV5;
    }

    /** The layout of a schema; {@code version} is that of its message. */
    static ArrowLayout of(List<ArrowField> fields, int version) {
        ArrowLayout layout = new ArrowLayout(version < ArrowMessage.V5);
        for (ArrowField field : fields) {
            layout.walk(field, field.name(), List.of());
        }
        return layout;
    }

    List<ArrowLeaf> leaves() {
        return leaves;
    }

    List<Unsupported> unsupported() {
        return unsupported;
    }

    private void refuse(ArrowField field, String name, String reason) {
        unsupported.add(new Unsupported(name, field.typeText(), reason));
        skip(field);
    }

    private Slot slot() {
        return new Slot(buffers++, views);
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
        ArrowLayout inner = new ArrowLayout(isBeforeV5);
        inner.walk(new ArrowField(field.name(), true, field.type(), null, field.children(),
                List.of()), name, List.of());
        if (inner.leaves.size() != 1 || field.type().id() == Id.STRUCT) {
            refuse(field, name, "a dictionary of " + field.type().text());
            return;
        }
        ArrowLeaf values = inner.leaves.getFirst();
        List<Level> levels = and(above, new Level(nodes++, slot(), 1, false, false));
        leaves.add(new ArrowLeaf(values.column(), values.storedType(), Layout.DICTIONARY, levels, null, 0, slot(),
                field.dictionary().index().bits() / Byte.SIZE, -1, 0, field.dictionary(), values));
    }

    private void values(ArrowField field, String name, List<Level> above) {
        switch (field.type().id()) {
            case NULL -> {
                nodes++;
                leaves.add(new ArrowLeaf(Column.bytes(name, ""), "null", Layout.NONE, List.of(), null, 0, null, 0, -1,
                        0, null, null));
            }
            case STRUCT -> {
                List<Level> levels = and(above, new Level(nodes++, slot(), 1, false, false));
                field.children().forEach(child -> walk(child, name + "." + child.name(), levels));
            }
            case BINARY, LARGE_BINARY, UTF8, LARGE_UTF8 -> text(field, name, above);
            case LIST, LARGE_LIST -> list(field, name, above);
            case FIXED_SIZE_BINARY -> {
                List<Level> levels = and(above, new Level(nodes++, slot(), 1, false, false));
                Column column = new Column(new TensorSpec(name, DType.U8, field.type().size()), Column.Kind.BYTES, "");
                leaves.add(new ArrowLeaf(column, field.typeText(), Layout.FIXED, levels, null, 0, slot(),
                        field.type().size(), -1, 0, null, null));
            }
            default -> {
                String reason = reasonAgainst(field);
                if (reason != null) {
                    refuse(field, name, reason);
                } else {
                    Items items = items(field, 1, false, false, above);
                    leaves.add(new ArrowLeaf(Column.numbers(name, items.dtype, items.shape()), items.storedType,
                            Layout.FIXED, items.levels, null, 0, items.data, items.bytes(), -1, items.bits(), null,
                            null));
                }
            }
        }
    }

    private void text(ArrowField field, String name, List<Level> above) {
        List<Level> levels = and(above, new Level(nodes++, slot(), 1, false, false));
        Id id = field.type().id();
        boolean text = id == Id.UTF8 || id == Id.LARGE_UTF8;
        int offsetBytes = id == Id.BINARY || id == Id.UTF8 ? Integer.BYTES : Long.BYTES;
        Slot offsets = slot();
        leaves.add(new ArrowLeaf(text ? Column.text(name, "") : Column.bytes(name, ""), field.typeText(),
                Layout.VARIABLE, levels, offsets, offsetBytes, slot(), 1, -1, 0, null, null));
    }

    private void list(ArrowField field, String name, List<Level> above) {
        List<Long> dims = field.shape();
        boolean shaped = dims.size() > 1 && dims.stream().skip(1).allMatch(dim -> dim > 0 && dim <= Integer.MAX_VALUE);
        ArrowField child = field.children().getFirst();
        if (shaped) {
            child = regular(child, dims.subList(1, dims.size()));
        }
        String reason = reasonAgainst(child);
        if (reason != null) {
            refuse(field, name, "a list of which each item is " + reason);
            return;
        }
        List<Level> levels = and(above, new Level(nodes++, slot(), 1, false, false));
        Slot offsets = slot();
        Items items = items(child, 1, true, false, levels);
        long count = shaped && dims.getFirst() >= 0 ? dims.getFirst() : -1;
        long[] shape = new long[items.dims.size() + 1];
        shape[0] = count < 0 ? TensorSpec.VARIABLE : count;
        System.arraycopy(items.shape(), 0, shape, 1, items.dims.size());
        leaves.add(new ArrowLeaf(Column.numbers(name, items.dtype, shape), items.storedType, Layout.VARIABLE,
                items.levels, offsets, field.type().id() == Id.LIST ? Integer.BYTES : Long.BYTES, items.data,
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

    /** Why a field is not numbers of a fixed count; null if it is. */
    private static String reasonAgainst(ArrowField field) {
        if (field.dictionary() != null) {
            return "dictionary-encoded";
        }
        if (field.type().dtype() != null) {
            return null;
        }
        if (!isSized(field)) {
            return "of type " + field.type().text() + ", which is not read there";
        }
        String reason = reasonAgainst(field.children().getFirst());
        if (reason != null) {
            return reason;
        }
        long elements = 1;
        for (ArrowField f = field; isSized(f); f = f.children().getFirst()) {
            elements *= f.type().size();
            if (elements > Integer.MAX_VALUE) {
                return "of more than " + Integer.MAX_VALUE + " elements";
            }
        }
        return null;
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

    /** Counts the nodes and buffers of a field that is not read. */
    private void skip(ArrowField field) {
        nodes++;
        if (field.dictionary() != null) {
            buffers += 2;
            return;
        }
        switch (field.type().id()) {
            case NULL -> { }
            case RUN_END_ENCODED -> buffers += isBeforeV5 ? 1 : 0;
            case FIXED_SIZE_LIST, STRUCT -> buffers++;
            case UNION -> buffers += (field.type().text().startsWith("dense") ? 2 : 1) + (isBeforeV5 ? 1 : 0);
            case BINARY, LARGE_BINARY, UTF8, LARGE_UTF8, LIST_VIEW, LARGE_LIST_VIEW -> buffers += 3;
            case BINARY_VIEW, UTF8_VIEW -> {
                buffers += 2;
                views++;
            }
            default -> buffers += 2;
        }
        field.children().forEach(this::skip);
    }
}
