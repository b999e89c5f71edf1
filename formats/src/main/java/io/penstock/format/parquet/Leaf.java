// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.format.arrow.ArrowType;
import io.penstock.format.arrow.ArrowType.Id;
import io.penstock.format.table.JsonText;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A leaf of the schema: how its values are stored, and what they are.
 *
 * <p>A definition level is the number of the optional and repeated nodes on the path to the leaf that are present; a
 * repetition level tells which of the repeated nodes continues, and 0 starts a row.
 *
 * @param index its position among the schema's leaves, and so among a row group's chunks
 * @param storedBytes the size of a decoded value; 0 if it varies
 * @param maxDefinition the level of a value that is present
 * @param maxRepetition the number of repeated nodes on its path
 */
record Leaf(int index, Physical physical, int storedBytes, int maxDefinition, int maxRepetition, ArrowType type) {

    private static final int JULIAN_DAY_OF_1970 = 2_440_588;
    private static final int NANOSECONDS = 3;
    private static final long NANOS_OF_DAY = 86_400_000_000_000L;

    static Leaf of(SchemaNode node, int index, int maxDefinition, int maxRepetition) {
        ArrowType type = typeOf(node);
        Physical physical = physicalOf(node);
        return new Leaf(index, physical, bytesOf(node, physical), maxDefinition, maxRepetition, type);
    }

    /** Returns how a leaf is stored. If all values are null, they count as bytes, of which there are none. */
    private static Physical physicalOf(SchemaNode node) {
        Physical physical = node.physical();
        return physical == null || node.is(Annotation.Meaning.NULL) ? Physical.BYTE_ARRAY : physical;
    }

    private static int bytesOf(SchemaNode node, Physical physical) {
        return physical == Physical.FIXED_LEN_BYTE_ARRAY ? node.typeLength() : physical.byteSize();
    }

    /** Returns the type of a leaf's values, in Arrow's terms. */
    static ArrowType typeOf(SchemaNode node) {
        Annotation annotation = node.annotation();
        Physical physical = physicalOf(node);
        int bits = bytesOf(node, physical) * Byte.SIZE;
        if (annotation.meaning() == Annotation.Meaning.NULL) {
            return ArrowType.of(Id.NULL);
        }
        return switch (physical) {
            case BOOLEAN -> ArrowType.of(Id.BOOL);
            case FLOAT, DOUBLE -> ArrowType.floating(bits);
            case INT96 -> ArrowType.timestamp(NANOSECONDS, "");
            case INT32, INT64 -> switch (annotation.meaning()) {
                case DECIMAL -> decimal(node, bits);
                case DATE -> bits == Integer.SIZE ? ArrowType.date(bits) : ArrowType.integer(bits, true);
                case TIME -> annotation.unit() > 0 ? ArrowType.time(bits, annotation.unit())
                        : ArrowType.integer(bits, true);
                case TIMESTAMP -> annotation.unit() > 0 && bits == Long.SIZE
                        ? ArrowType.timestamp(annotation.unit(), annotation.isInstant() ? "UTC" : "")
                        : ArrowType.integer(bits, true);
                // Small integers are stored as 32 bits, of which the low ones count.
                case INTEGER -> ArrowType.integer(bits == Integer.SIZE
                        && (annotation.bits() == Byte.SIZE || annotation.bits() == Short.SIZE) ? annotation.bits()
                        : bits, annotation.isSigned());
                default -> ArrowType.integer(bits, true);
            };
            case BYTE_ARRAY -> switch (annotation.meaning()) {
                case DECIMAL -> decimal(node, bits);
                case STRING, JSON -> ArrowType.of(Id.UTF8);
                default -> ArrowType.of(Id.BINARY);
            };
            case FIXED_LEN_BYTE_ARRAY -> annotation.meaning() == Annotation.Meaning.DECIMAL ? decimal(node, bits)
                    : annotation.meaning() == Annotation.Meaning.FLOAT16 && bits == Short.SIZE
                    ? ArrowType.floating(bits) : ArrowType.fixedBinary(node.typeLength());
        };
    }

    private static ArrowType decimal(SchemaNode node, int bits) {
        return ArrowType.decimal(bits, "decimal128", node.precision(), node.scale());
    }

    /** Returns why a leaf cannot be read; null if it can. */
    static @Nullable String reasonAgainst(SchemaNode node) {
        if (node.typeLength() > LeafTiles.MAX_VALUE_BYTES && node.physical() == Physical.FIXED_LEN_BYTE_ARRAY) {
            return "values of " + node.typeLength() + " bytes";
        }
        return node.is(Annotation.Meaning.DECIMAL) && Math.abs((long) node.scale()) > JsonText.MAX_SCALE
                ? "decimals of scale " + node.scale() : null;
    }

    boolean isBinary() {
        return physical == Physical.BYTE_ARRAY;
    }

    boolean isInteger() {
        return physical == Physical.INT32 || physical == Physical.INT64;
    }

    void write(MemorySegment from, long at, long bytes, JsonText out) {
        if (physical == Physical.INT96) {
            // The day is stored apart from the nanoseconds: a long may not hold both as one count of nanoseconds.
            long days = (from.get(LittleEndian.I32, at + Long.BYTES) & 0xFFFFFFFFL) - JULIAN_DAY_OF_1970;
            long nanos = from.get(LittleEndian.I64, at);
            out.timestamp(days + Math.floorDiv(nanos, NANOS_OF_DAY), Math.floorMod(nanos, NANOS_OF_DAY), type.size(),
                    false);
            return;
        }
        switch (type.id()) {
            case NULL -> out.nothing();
            case BOOL -> out.truth(from.get(JAVA_BYTE, at) != 0);
            case UTF8 -> out.text(from, at, bytes);
            case BINARY -> out.base64(from, at, bytes);
            case DECIMAL -> {
                if (isInteger()) {
                    type.write(from, at, out);
                } else {
                    out.decimal(from.asSlice(at, bytes).toArray(JAVA_BYTE), type.size());
                }
            }
            default -> type.write(from, at, out);
        }
    }
}
