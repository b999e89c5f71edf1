// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.table;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a table in several files, matched by name: the order in a file does not matter, and a file need not
 * have all of them. Columns of one name may differ as far as one type has the values of all: the wider of two types of
 * integers or of floats, a list of any length, bytes; a column whose values are all null has any type.
 */
public final class UnitedColumns {

    private static final Pattern UNIT_OF_TIME = Pattern.compile("(?:time32|time64|timestamp|duration)\\[(\\w+)");
    private static final Pattern PLAIN_NUMBERS = Pattern.compile("u?int\\d+|halffloat|float|double");

    /**
     * A column of one file.
     *
     * @param storedType Arrow's name of the type of its numbers or bytes; numbers of other types are not widened
     * @param hasNoValues whether all its values, or all items of its lists, are null, so that it has no type of its own
     */
    public record Own(Column column, String storedType, boolean hasNoValues) {
    }

    /**
     * A column of the table.
     *
     * @param own its first column that has values
     * @param from the file of that column
     */
    private record United(Column column, Own own, Location from) {
    }

    private final Map<String, United> columns = new LinkedHashMap<>();

    /** Adds the columns of a file, of which the files before must have one. */
    public void add(Location file, List<Own> more) {
        List<String> names = more.stream().map(own -> own.column.name()).toList();
        if (!columns.isEmpty() && names.stream().noneMatch(columns::containsKey)) {
            throw new MalformedStoreException(file, "the columns " + names, "at least one of " + columns.keySet()
                    + ", as " + columns.values().iterator().next().from.name() + " has");
        }
        for (Own own : more) {
            United before = columns.get(own.column.name());
            if (before == null || before.own.hasNoValues && !own.hasNoValues) {
                columns.put(own.column.name(), new United(own.column, own, file));
            } else if (!own.hasNoValues) {
                columns.put(own.column.name(), united(before, own, file));
            }
        }
    }

    private static United united(United before, Own own, Location file) {
        String unit = unitOfTime(own.storedType);
        String unitBefore = unitOfTime(before.own.storedType);
        Column both = both(before.column, own.column, PLAIN_NUMBERS.matcher(own.storedType).matches()
                && PLAIN_NUMBERS.matcher(before.own.storedType).matches());
        // Times are given as their counts of units, which the columns do not have.
        if (both == null || !unit.isEmpty() && !unitBefore.isEmpty() && !unit.equals(unitBefore)) {
            throw new MalformedStoreException(file, "column '" + own.column.name() + "' of " + described(own),
                    described(before.own) + ", as " + before.from.name() + " has");
        }
        return unitBefore.isEmpty() && !unit.isEmpty() ? new United(both, own, file)
                : new United(both, before.own, before.from);
    }

    /** Returns the unit that a time, timestamp or duration counts; empty if the type says none. */
    private static String unitOfTime(String storedType) {
        Matcher unit = UNIT_OF_TIME.matcher(storedType);
        return unit.lookingAt() ? unit.group(1) : "";
    }

    private static String described(Own own) {
        String column = own.column.toString();
        return column.substring(column.indexOf(": ") + 2) + " (" + own.storedType + ")";
    }

    /** Returns the columns of all files added, in the order in which they were first added. */
    public List<Column> columns() {
        return columns.values().stream().map(United::column).toList();
    }

    /** Returns the name of the stored type of a column. */
    public String storedType(Column column) {
        United united = Objects.requireNonNull(columns.get(column.name()), column.name());
        DType dtype = united.own.column.spec().dtype();
        String id = column.spec().dtype().toString();
        return dtype == column.spec().dtype() ? united.own.storedType
                : column.spec().dtype().isFloat() ? id.equals("f32") ? "float" : "double"
                : id.replace("u", "uint").replaceFirst("^i", "int");
    }

    /** Returns a column for the values of two; null if there is none. */
    private static @Nullable Column both(Column a, Column b, boolean areWidenable) {
        if (a.equals(b)) {
            return a;
        }
        DType dtype = a.spec().dtype() == b.spec().dtype() ? a.spec().dtype()
                : areWidenable ? wider(a.spec().dtype(), b.spec().dtype()) : null;
        long[] shape = a.spec().shape();
        long[] other = b.spec().shape();
        if (dtype == null || shape.length != other.length || !a.encoding().equals(b.encoding())
                || a.kind() == Column.Kind.NUMBERS != (b.kind() == Column.Kind.NUMBERS)) {
            return null;
        }
        for (int d = 0; d < shape.length; d++) {
            if (shape[d] != other[d] && d > 0) {
                return null;
            }
            shape[d] = shape[d] == other[d] ? shape[d] : TensorSpec.VARIABLE;
        }
        return new Column(new TensorSpec(a.name(), dtype, shape), a.kind() == b.kind() ? a.kind() : Column.Kind.BYTES,
                a.encoding());
    }

    /** Returns the least type that has all values of both; null if there is none. */
    static @Nullable DType wider(DType a, DType b) {
        DType less = a.byteSize() <= b.byteSize() ? a : b;
        DType more = less == a ? b : a;
        if (a.isFloat() && b.isFloat()) {
            return more.byteSize() == less.byteSize() ? null : more;
        }
        if (!a.isInteger() || !b.isInteger()) {
            return null;
        }
        if (a.isUnsigned() == b.isUnsigned() || less.isUnsigned() && less.byteSize() < more.byteSize()) {
            return more;
        }
        int bytes = 2 * (a.isUnsigned() ? a : b).byteSize();
        return bytes > Long.BYTES ? null : DType.of("i" + bytes * Byte.SIZE);
    }

    /**
     * Widens integers or floats.
     *
     * @param from the numbers, each {@code strideBytes} after the one before
     * @param into a place for as many of the wider type; not the same memory
     */
    public static void widen(MemorySegment from, DType type, int strideBytes, MemorySegment into, DType wider,
            long count) {
        for (long i = 0; i < count; i++) {
            long place = i * strideBytes;
            long bits = !type.isFloat() ? type.longAt(from, place) : wider == DType.F32
                    ? Float.floatToRawIntBits((float) type.doubleAt(from, place))
                    : Double.doubleToRawLongBits(type.doubleAt(from, place));
            long target = i * wider.byteSize();
            switch (wider.byteSize()) {
                case Short.BYTES -> into.set(LittleEndian.I16, target, (short) bits);
                case Integer.BYTES -> into.set(LittleEndian.I32, target, (int) bits);
                default -> into.set(LittleEndian.I64, target, bits);
            }
        }
    }
}
