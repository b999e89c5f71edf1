// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.lake.ValueType.Kind;
import io.penstock.memory.DType;
import io.penstock.store.Column;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Converts a value of a data file to the table's type: the table's type was widened since, or fields were renamed, or
 * the file counts time in other units.
 */
@FunctionalInterface
interface Conversion {

    Pattern TIME_UNIT = Pattern.compile("(?:time32|time64|timestamp)\\[(s|ms|us|ns)");
    Pattern SCALE = Pattern.compile("decimal\\d+\\(\\d+, (-?\\d+)\\)");

    long MICROS_OF_DAY = 86_400_000_000L;

    byte[] convert(MemorySegment value);

    /**
     * Returns the conversion of a file's column.
     *
     * @param own the file's column
     * @param stored Arrow's name of its type
     * @param column the table's column
     * @param wanted the store's column for it
     * @return the conversion; null if the values can be given as they are
     */
    static @Nullable Conversion of(Column own, String stored, TableColumn column, Column wanted, Location file) {
        ValueType type = column.type();
        if (own.kind() == Column.Kind.NUMBERS && type.kind().isNumber()
                && own.spec().rank() == (type.isList() ? 1 : 0)) {
            long factor = factor(stored, type.kind());
            if (own.spec().dtype() == wanted.spec().dtype() && factor == 1) {
                return null;
            }
            return value -> numbers(value, own.spec().dtype(), type.kind(), factor);
        }
        if (own.kind() == Column.Kind.NUMBERS && type.kind() == Kind.DECIMAL && own.spec().dtype().isInteger()) {
            return value -> Values.decimal(BigDecimal.valueOf(own.spec().dtype().longAt(value, 0)),
                    type.scale());
        }
        boolean isJson = own.encoding().equals("json");
        if (isJson && type.kind() == Kind.DECIMAL) {
            Matcher scale = SCALE.matcher(stored);
            return scale.find() && Integer.parseInt(scale.group(1)) == type.scale() ? null
                    : value -> Values.decimal(new BigDecimal((String) parsed(value)), type.scale());
        }
        if (isJson && (type.kind() == Kind.TIMESTAMP || type.kind() == Kind.TIMESTAMP_NANOS)) {
            return value -> timestamps(parsed(value), type.kind());
        }
        if (isJson && type.kind() == Kind.JSON) {
            return column.renames().isEmpty() ? null : value -> Json.write(renamed(parsed(value), "",
                    column.renames())).getBytes(StandardCharsets.UTF_8);
        }
        if (own.kind() != Column.Kind.NUMBERS && !isJson
                && (type.kind() == Kind.TEXT || type.kind() == Kind.BYTES || type.kind() == Kind.FIXED)) {
            return null;
        }
        throw new MalformedStoreException(file, "column '" + own.name() + "' of type " + stored + " (" + own + ")",
                "one that can be read as " + type + " for '" + column.name() + "'");
    }

    private static Object parsed(MemorySegment value) {
        return Objects.requireNonNull(Json.parse(value.toArray(ValueLayout.JAVA_BYTE)));
    }

    /** Returns what numbers are multiplied with: days become microseconds, milliseconds microseconds, and so on. */
    private static long factor(String stored, Kind kind) {
        long perSecond = switch (kind) {
            case TIMESTAMP, TIME -> 1_000_000L;
            case TIMESTAMP_NANOS -> 1_000_000_000L;
            default -> 0L;
        };
        if (perSecond == 0) {
            return 1;
        }
        if (stored.startsWith("date32")) {
            return MICROS_OF_DAY / 1_000_000 * perSecond;
        }
        Matcher unit = TIME_UNIT.matcher(stored);
        if (!unit.find()) {
            return 1;
        }
        long own = switch (unit.group(1)) {
            case "s" -> 1L;
            case "ms" -> 1_000L;
            case "us" -> 1_000_000L;
            default -> 1_000_000_000L;
        };
        // Nanoseconds that become microseconds are divided: a negative factor.
        return own <= perSecond ? perSecond / own : -(own / perSecond);
    }

    private static byte[] numbers(MemorySegment value, DType from, Kind to, long factor) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (long at = 0; at < value.byteSize(); at += from.byteSize()) {
            out.writeBytes(number(value, at, from, to, factor));
        }
        return out.toByteArray();
    }

    private static byte[] number(MemorySegment value, long at, DType from, Kind to, long factor) {
        if (from.isFloat()) {
            return Values.number(to, Double.doubleToRawLongBits(from.doubleAt(value, at)));
        }
        long number = from.longAt(value, at);
        if (to == Kind.F64) {
            return Values.number(to, Double.doubleToRawLongBits(number));
        }
        if (to == Kind.F32) {
            return Values.number(to, Float.floatToRawIntBits(number));
        }
        return Values.number(to, factor > 0 ? Math.multiplyExact(number, factor) : Math.floorDiv(number, -factor));
    }

    /** Converts a timestamp as text, as INT96 is given, or a list of them. */
    private static byte[] timestamps(Object value, Kind kind) {
        ChronoUnit unit = kind == Kind.TIMESTAMP ? ChronoUnit.MICROS : ChronoUnit.NANOS;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Object item : value instanceof List<?> list ? list : List.of(value)) {
            out.writeBytes(Values.number(kind, Values.timestamp((String) item, unit)));
        }
        return out.toByteArray();
    }

    /** Gives the members of objects the names that the table has for them; {@code path} is that in the file. */
    private static @Nullable Object renamed(@Nullable Object value, String path, Map<String, String> renames) {
        if (value instanceof List<?> list) {
            List<@Nullable Object> items = new ArrayList<>();
            list.forEach(item -> items.add(renamed(item, path, renames)));
            return items;
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, @Nullable Object> members = new LinkedHashMap<>();
            map.forEach((name, member) -> {
                String inFile = path + name;
                members.put(renames.getOrDefault(inFile, (String) name), renamed(member, inFile + ".", renames));
            });
            return members;
        }
        return value;
    }
}
