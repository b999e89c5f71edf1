// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.error.MalformedStoreException;
import io.penstock.format.arrow.ArrowType.Id;
import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A field of a schema.
 *
 * @param dictionary how values are dictionary-encoded; null if they are not
 * @param shape the dimensions of the arrays that a Hugging Face dataset stores as nested lists, the first -1 if it
 *     varies; empty if unknown
 */
public record ArrowField(String name, boolean isNullable, ArrowType type, @Nullable Dictionary dictionary,
        List<ArrowField> children, List<Long> shape) {

    /** More than any table has; bounds a schema whose parts refer to each other. */
    private static final int MAX_FIELDS = 10_000;
    private static final int MAX_DEPTH = 32;
    private static final int MAX_NAME_CHARS = 1 << 20;
    private static final String EXTENSION_NAME = "ARROW:extension:name";
    private static final String EXTENSION_METADATA = "ARROW:extension:metadata";
    /**
     * Prefix of Hugging Face's types {@code Array2D} to {@code Array5D}; their metadata are {@code [[28, 28],
     * "uint8"]}.
     */
    private static final String ARRAY_EXTENSION = "datasets.features.features.Array";

    /** Says that values are indices of a type into a dictionary. */
    public record Dictionary(long id, ArrowType index, boolean isOrdered) {
    }

    /**
     * Reads the schema that Arrow embeds in files of other formats, to keep types that those cannot express.
     *
     * @param message the schema's message, as at the start of a stream
     */
    public static List<ArrowField> readAll(Location file, byte[] message) {
        ArrowMessage schema = ArrowMessage.read(file, MemorySegment.ofArray(message)::asSlice, 0, message.length);
        if (schema == null || schema.type() != ArrowMessage.SCHEMA) {
            throw new MalformedStoreException(file, "a message that is not an Arrow schema", "a schema");
        }
        return readAll(schema.header());
    }

    static List<ArrowField> readAll(FlatTable schema) {
        if (schema.i16(0, 0) != 0) {
            throw schema.malformed("big-endian data", "little-endian");
        }
        return readAll(schema.vector(1, Integer.BYTES), schema, 0, new int[2]);
    }

    private static List<ArrowField> readAll(FlatTable.Vector tables, FlatTable owner, int depth, int[] count) {
        List<ArrowField> fields = new ArrayList<>();
        for (long i = 0; i < tables.count(); i++) {
            if (++count[0] > MAX_FIELDS || depth > MAX_DEPTH) {
                throw owner.malformed("a schema of more than " + MAX_FIELDS + " fields or " + MAX_DEPTH + " levels",
                        "less");
            }
            fields.add(read(tables.table(i), depth, count));
        }
        return List.copyOf(fields);
    }

    private static ArrowField read(FlatTable table, int depth, int[] count) {
        String name = table.string(0);
        count[1] += name == null ? 0 : name.length();
        if (count[1] > MAX_NAME_CHARS) {
            throw table.malformed("names of more than " + MAX_NAME_CHARS + " characters", "less");
        }
        ArrowType type = ArrowType.read(table, table.u8(2, 0), table.table(3));
        List<ArrowField> children = readAll(table.vector(5, Integer.BYTES), table, depth + 1, count);
        int expected = switch (type.id()) {
            case LIST, LARGE_LIST, FIXED_SIZE_LIST, MAP, LIST_VIEW, LARGE_LIST_VIEW -> 1;
            case RUN_END_ENCODED -> 2;
            case STRUCT, UNION -> children.size();
            default -> 0;
        };
        if (children.size() != expected) {
            throw table.malformed("a " + type.text() + " with " + children.size() + " children", "" + expected);
        }
        if (!type.codes().isEmpty() && type.codes().size() != children.size()) {
            throw table.malformed("a union of " + children.size() + " types with " + type.codes().size() + " codes",
                    "one each");
        }
        FlatTable encoding = table.table(4);
        Dictionary dictionary = null;
        if (encoding != null) {
            FlatTable index = encoding.table(1);
            dictionary = new Dictionary(encoding.i64(0, 0), index == null ? ArrowType.integer(Integer.SIZE, true)
                    : ArrowType.integer(index), encoding.bool(2));
        }
        return new ArrowField(name == null ? "" : name, table.bool(1), type, dictionary, children, shape(table));
    }

    private static List<Long> shape(FlatTable table) {
        String extension = metadata(table, EXTENSION_NAME);
        String described = extension == null || !extension.startsWith(ARRAY_EXTENSION) ? null
                : metadata(table, EXTENSION_METADATA);
        List<Long> shape = new ArrayList<>();
        if (described != null) {
            try {
                for (Object dim : Json.array(Json.array(Json.parse(described)).getFirst())) {
                    shape.add(dim instanceof Long size ? size : Long.valueOf(-1));
                }
            } catch (JsonException | NoSuchElementException _) {
                return List.of();
            }
        }
        return List.copyOf(shape);
    }

    /** Returns the metadata of a field under a key; null if there are none. */
    private static @Nullable String metadata(FlatTable table, String key) {
        FlatTable.Vector pairs = table.vector(6, Integer.BYTES);
        for (long i = 0; i < Math.min(pairs.count(), MAX_FIELDS); i++) {
            FlatTable pair = pairs.table(i);
            if (pair.isString(0, key)) {
                return pair.string(1);
            }
        }
        return null;
    }

    /** Returns the field of its dictionary's values. */
    ArrowField values() {
        return new ArrowField(name, true, type, null, children, List.of());
    }

    /** Returns the type of its buffers: the values, or their indices. */
    ArrowType stored() {
        return dictionary == null ? type : dictionary.index();
    }

    /** {@return the number of items in each list of a fixed-size list; -1 for any other type} */
    public long listLength() {
        return type.id() == Id.FIXED_SIZE_LIST ? type.size() : -1;
    }

    /** {@return the type with its children, as Arrow's own libraries print it: {@code list<item: int32>}} */
    public String typeText() {
        return dictionary == null ? valueText() : "dictionary<values=" + valueText() + ", indices="
                + dictionary.index().text() + ", ordered=" + (dictionary.isOrdered() ? 1 : 0) + ">";
    }

    private String valueText() {
        return switch (type.id()) {
            case FIXED_SIZE_LIST -> type.text() + "<" + children.getFirst().text() + ">[" + type.size() + "]";
            case MAP -> children.getFirst().children().size() != 2 ? "map" : children.getFirst().children().stream()
                    .map(ArrowField::typeText).collect(Collectors.joining(", ", "map<", ">"));
            case RUN_END_ENCODED -> type.text() + "<run_ends: " + children.get(0).typeText() + ", values: "
                    + children.get(1).typeText() + ">";
            case LIST, LARGE_LIST, LIST_VIEW, LARGE_LIST_VIEW, STRUCT, UNION -> {
                List<String> parts = new ArrayList<>();
                for (int i = 0; i < children.size(); i++) {
                    parts.add(children.get(i).text() + (type.id() != Id.UNION ? ""
                            : "=" + (type.codes().isEmpty() ? i : type.codes().get(i))));
                }
                yield type.text() + "<" + String.join(", ", parts) + ">";
            }
            default -> type.text();
        };
    }

    /** {@return the field as Arrow's own libraries print it: {@code ids: list<item: int32> not null}} */
    public String text() {
        return name + ": " + typeText() + (isNullable ? "" : " not null");
    }
}
