package io.penstock.format.parquet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.format.JsonText;
import io.penstock.format.UnwritableException;
import io.penstock.memory.LittleEndian;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A leaf of a column that is given as JSON, and how its values are written.
 *
 * @param stored how they are stored
 * @param form what they are written as
 * @param parameter bits of an integer, digits behind the point of a decimal and behind the second of a time
 * @param isInstant whether a timestamp is a point in time
 */
record NestedLeaf(StoredLeaf stored, Form form, int parameter, boolean isInstant) {

    /** What a value is written as. */
    enum Form {
        NULL, TRUTH, INTEGER, UNSIGNED, FLOAT16, FLOAT32, FLOAT64, DECIMAL, DATE, TIME, TIMESTAMP, INT96, TEXT, BYTES
    }

    private static final int JULIAN_DAY_OF_1970 = 2_440_588;
    private static final int NANO_DIGITS = 9;
    private static final long NANOS_OF_DAY = 86_400_000_000_000L;

    static NestedLeaf of(SchemaNode leaf, int index, int definition, int repetition) {
        Annotation annotation = leaf.annotation();
        Form form = form(leaf);
        int bytes = leaf.physical() == Physical.FIXED_LEN_BYTE_ARRAY ? leaf.typeLength() : leaf.physical().byteSize();
        StoredLeaf stored = new StoredLeaf(index, form == Form.NULL ? Physical.BYTE_ARRAY : leaf.physical(),
                form == Form.NULL ? 0 : bytes, definition, repetition, form == Form.NULL);
        int parameter = switch (form) {
            case INTEGER, UNSIGNED -> annotation.meaning() == Annotation.Meaning.INTEGER ? annotation.bits()
                    : bytes * Byte.SIZE;
            case DECIMAL -> leaf.scale();
            case TIME, TIMESTAMP -> digits(annotation);
            default -> 0;
        };
        return new NestedLeaf(stored, form, parameter, annotation.utc());
    }

    private static Form form(SchemaNode leaf) {
        Annotation.Meaning meaning = leaf.annotation().meaning();
        if (meaning == Annotation.Meaning.NULL) {
            return Form.NULL;
        }
        return switch (leaf.physical()) {
            case BOOLEAN -> Form.TRUTH;
            case FLOAT -> Form.FLOAT32;
            case DOUBLE -> Form.FLOAT64;
            case INT96 -> Form.INT96;
            case INT32, INT64 -> switch (meaning) {
                case DECIMAL -> Form.DECIMAL;
                case DATE -> leaf.physical() == Physical.INT32 ? Form.DATE : Form.INTEGER;
                case TIME -> digits(leaf.annotation()) == 0 ? Form.INTEGER : Form.TIME;
                case TIMESTAMP -> digits(leaf.annotation()) == 0 ? Form.INTEGER : Form.TIMESTAMP;
                case INTEGER -> leaf.annotation().signed() ? Form.INTEGER : Form.UNSIGNED;
                default -> Form.INTEGER;
            };
            case BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY -> switch (meaning) {
                case DECIMAL -> Form.DECIMAL;
                case STRING, JSON -> Form.TEXT;
                case FLOAT16 -> leaf.typeLength() == Short.BYTES ? Form.FLOAT16 : Form.BYTES;
                default -> Form.BYTES;
            };
        };
    }

    /** How many digits behind the second the unit of a time has; 0 if it has no unit. */
    private static int digits(Annotation annotation) {
        return switch (annotation.unit()) {
            case "ms" -> 3;
            case "us" -> 6;
            case "ns" -> NANO_DIGITS;
            default -> 0;
        };
    }

    /** Why a leaf cannot be read; null if it can. */
    static String reasonAgainst(SchemaNode leaf) {
        if (leaf.physical() == Physical.FIXED_LEN_BYTE_ARRAY && leaf.typeLength() > LeafTiles.MAX_VALUE_BYTES) {
            return "values of " + leaf.typeLength() + " bytes";
        }
        boolean decimal = leaf.is(Annotation.Meaning.DECIMAL);
        return decimal && Math.abs((long) leaf.scale()) > JsonText.MAX_SCALE ? "decimals of scale " + leaf.scale()
                : null;
    }

    /** Writes a value. */
    void write(MemorySegment from, long at, long bytes, JsonText out) throws UnwritableException {
        switch (form) {
            case NULL -> out.nothing();
            case TRUTH -> out.truth(from.get(JAVA_BYTE, at) != 0);
            case INTEGER -> out.integer(integer(from, at));
            case UNSIGNED -> out.unsigned(integer(from, at));
            case FLOAT16 -> out.real(Float.float16ToFloat(from.get(LittleEndian.I16, at)));
            case FLOAT32 -> out.real(Float.intBitsToFloat(from.get(LittleEndian.I32, at)));
            case FLOAT64 -> out.real(Double.longBitsToDouble(from.get(LittleEndian.I64, at)));
            case DECIMAL -> out.decimal(unscaled(from, at, bytes), parameter);
            case DATE -> out.date(from.get(LittleEndian.I32, at));
            case TIME -> out.time(whole(from, at), parameter);
            case TIMESTAMP -> out.timestamp(whole(from, at), parameter, isInstant);
            case INT96 -> {
                // The day that nanoseconds are of is stored by itself, so that they may be more than a long holds.
                long days = (from.get(LittleEndian.I32, at + Long.BYTES) & 0xFFFFFFFFL) - JULIAN_DAY_OF_1970;
                long nanos = from.get(LittleEndian.I64, at);
                out.timestamp(days + Math.floorDiv(nanos, NANOS_OF_DAY), Math.floorMod(nanos, NANOS_OF_DAY),
                        NANO_DIGITS, false);
            }
            case TEXT -> out.text(from, at, bytes);
            case BYTES -> out.base64(from, at, bytes);
        }
    }

    private long whole(MemorySegment from, long at) {
        return stored.storedBytes() == Integer.BYTES ? from.get(LittleEndian.I32, at)
                : from.get(LittleEndian.I64, at);
    }

    /** Small integers are stored as 32 bits, of which the low ones count. */
    private long integer(MemorySegment from, long at) {
        int unused = Long.SIZE - Math.clamp(parameter, 1, stored.storedBytes() * Byte.SIZE);
        long bits = whole(from, at) << unused;
        return form == Form.INTEGER ? bits >> unused : bits >>> unused;
    }

    /** Two's complement, the highest byte first. */
    private byte[] unscaled(MemorySegment from, long at, long bytes) {
        boolean integer = stored.physical() == Physical.INT32 || stored.physical() == Physical.INT64;
        byte[] found = from.asSlice(at, bytes).toArray(ValueLayout.JAVA_BYTE);
        for (int i = 0; integer && i < found.length / 2; i++) {
            byte low = found[i];
            found[i] = found[found.length - 1 - i];
            found[found.length - 1 - i] = low;
        }
        return found;
    }
}
