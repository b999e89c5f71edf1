// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.format.arrow.ArrowNode.Slot;
import io.penstock.format.arrow.ArrowType.Id;
import io.penstock.format.table.JsonText;
import io.penstock.format.table.UnreadColumn;
import io.penstock.store.Column;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Assigns the nodes and buffers of a batch to fields, in the order of a walk over the schema: depth first, a node
 * before its children, a bitmap before the other buffers. A struct's fields become columns of their own, {@code
 * image.bytes}; what is neither numbers nor bytes nor text becomes JSON.
 */
final class ArrowLayout {

    /** Bounds the names of nested structs. */
    private static final int MAX_NAME_CHARS = 1 << 12;

    private final List<ArrowShape> columns = new ArrayList<>();
    private final List<UnreadColumn> unread = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private int nodes;
    private int buffers;
    private int views;
    private int older;

    private ArrowLayout() {
    }

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

    /** Returns the columns that cannot be read. */
    List<UnreadColumn> unread() {
        return unread;
    }

    private void walk(ArrowField field, String name, List<ArrowNode> above) {
        if (name.length() > MAX_NAME_CHARS) {
            refuse(field, name.substring(0, MAX_NAME_CHARS), "a name of more than " + MAX_NAME_CHARS + " characters");
        } else if (field.stored().id() == Id.STRUCT) {
            List<ArrowNode> path = and(above, new ArrowNode(above.size(), field, JsonText.key(field.name()), nodes++,
                    slot(), List.of(), List.of(), null));
            field.children().forEach(child -> walk(child, name + "." + child.name(), path));
        } else if (!names.add(name)) {
            refuse(field, name, "a second column of this name");
        } else {
            ArrowShape shape = shape(field, name, above);
            String reason = shape.flat() == null ? reasonAgainst(field) : null;
            if (reason == null) {
                columns.add(shape);
            } else {
                unread.add(new UnreadColumn(name, field.typeText(), reason));
            }
        }
    }

    private void refuse(ArrowField field, String name, String reason) {
        unread.add(new UnreadColumn(name, field.typeText(), reason));
        // Only to count its nodes and buffers.
        node(field, name, new int[1]);
    }

    private static List<ArrowNode> and(List<ArrowNode> path, ArrowNode node) {
        List<ArrowNode> more = new ArrayList<>(path);
        more.add(node);
        return List.copyOf(more);
    }

    /** Returns a column whose nodes and buffers come next. */
    private ArrowShape shape(ArrowField field, String name, List<ArrowNode> above) {
        int[] ids = {above.size()};
        List<ArrowNode> path = and(above, node(field, name, ids));
        ArrowFlat flat = ArrowFlat.of(name, path);
        return flat == null ? new ArrowShape(Column.text(name, "json"), field.typeText(), path, ids[0], null)
                : new ArrowShape(flat.column(), flat.storedType(), path, ids[0], flat);
    }

    /** Counts and assigns the nodes and buffers of a field. */
    private ArrowNode node(ArrowField field, String name, int[] ids) {
        int id = ids[0]++;
        int position = nodes++;
        // The values of a dictionary are a column of their own, in batches of their own.
        ArrowShape values = field.dictionary() == null ? null
                : new ArrowLayout().shape(field.values(), name, List.of());
        ArrowType type = field.stored();
        Slot validity = switch (type.id()) {
            case NULL -> null;
            case UNION, RUN_END_ENCODED -> olderSlot();
            default -> slot();
        };
        int count = switch (type.id()) {
            case NULL, STRUCT, FIXED_SIZE_LIST, RUN_END_ENCODED -> 0;
            case BINARY, LARGE_BINARY, UTF8, LARGE_UTF8, LIST_VIEW, LARGE_LIST_VIEW -> 2;
            case UNION -> type.isDense() ? 2 : 1;
            default -> 1;
        };
        List<Slot> own = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            own.add(slot());
        }
        views += type.isView() ? 1 : 0;
        List<ArrowNode> children = new ArrayList<>();
        for (ArrowField child : values == null ? field.children() : List.<ArrowField>of()) {
            children.add(node(child, child.name(), ids));
        }
        return new ArrowNode(id, field, JsonText.key(field.name()), position, validity, List.copyOf(own),
                List.copyOf(children), values);
    }

    private Slot slot() {
        return new Slot(buffers++, views, older, false);
    }

    /** The bitmap of an array that has one only before version 5 of the metadata. */
    private Slot olderSlot() {
        return new Slot(buffers, views, older++, true);
    }

    /** Returns why a field cannot be read even as JSON; null if it can. */
    private static @Nullable String reasonAgainst(ArrowField field) {
        ArrowType type = field.type();
        List<ArrowField> children = field.children();
        switch (type.id()) {
            case DECIMAL -> {
                boolean hasWidth = type.bits() == 32 || type.bits() == 64 || type.bits() == 128 || type.bits() == 256;
                if (!hasWidth || Math.abs((long) type.size()) > JsonText.MAX_SCALE) {
                    return "a " + type.text();
                }
            }
            case MAP -> {
                if (children.getFirst().type().id() != Id.STRUCT || children.getFirst().children().size() != 2) {
                    return "a map without keys and values";
                }
            }
            case RUN_END_ENCODED -> {
                if (children.getFirst().type().id() != Id.INT || children.getFirst().dictionary() != null) {
                    return "runs whose ends are not integers";
                }
            }
            default -> { }
        }
        for (ArrowField child : children) {
            String reason = reasonAgainst(child);
            if (reason != null) {
                return reason;
            }
        }
        return null;
    }
}
