// SPDX-License-Identifier: Apache-2.0
package io.penstock.json;

import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Converts records to JSON values and back: a component {@code waitMillis} is the member {@code wait_ms}, NaN is
 * {@code null}, an enum constant is its name in lower case, and a missing member equals {@code null}. It supports
 * numbers, strings, instants, enums, maps, lists and records.
 */
public final class RecordJson {

    private static final Pattern CAPITAL = Pattern.compile("([A-Z])");

    private RecordJson() {
    }

    private static String key(String component) {
        return CAPITAL.matcher(component).replaceAll("_$1").toLowerCase(Locale.ROOT)
                .replaceAll("_millis$", "_ms").replaceAll("_seconds$", "_s").replaceAll("_nanos$", "_ns")
                .replaceAll("_nanos_per_", "_ns_per_").replaceAll("^nanos_per_", "ns_per_")
                .replaceAll("^millis$", "ms");
    }

    /** {@return the form for {@link Json#write} of a record's members, a list's items, or a plain value} */
    public static @Nullable Object write(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case Double d -> Double.isFinite(d) ? (Object) d : null;
            case Enum<?> constant -> constant.name().toLowerCase(Locale.ROOT);
            case Instant instant -> instant.toString();
            case List<?> list -> {
                List<@Nullable Object> items = new ArrayList<>();
                list.forEach(item -> items.add(write(item)));
                yield items;
            }
            case Map<?, ?> map -> {
                Map<String, @Nullable Object> members = new LinkedHashMap<>();
                map.forEach((key, member) -> members.put((String) key, write(member)));
                yield members;
            }
            case Record record -> members(record);
            default -> value;
        };
    }

    /** {@return a record's members in order; the caller may change the map} */
    public static Map<String, @Nullable Object> members(Record record) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            try {
                members.put(key(component.getName()), write(component.getAccessor().invoke(record)));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("reading " + component, e);
            }
        }
        return members;
    }

    /**
     * Reads a value of a type; an {@link IllegalArgumentException} names the position {@code at}, what was found, and
     * what was expected.
     */
    private static @Nullable Object read(@Nullable Object value, Type type, String at) {
        if (type instanceof ParameterizedType generic) {
            return readGeneric(value, generic, at);
        }
        Class<?> kind = (Class<?>) type;
        if (value == null) {
            return kind == double.class ? (Object) Double.NaN : kind == long.class ? (Object) 0L
                    : kind == int.class ? (Object) 0 : kind == boolean.class ? (Object) false : null;
        }
        if (kind == Object.class) {
            return value;
        }
        try {
            return convert(value, kind, at);
        } catch (ClassCastException | ArithmeticException | DateTimeParseException e) {
            throw wrong(value, kind.getSimpleName(), at);
        }
    }

    private static Object convert(Object value, Class<?> kind, String at) {
        if (kind == double.class) {
            return ((Number) value).doubleValue();
        }
        if (kind == long.class) {
            return (Long) value;
        }
        if (kind == int.class) {
            return Math.toIntExact((Long) value);
        }
        if (kind == Instant.class) {
            return Instant.parse((String) value);
        }
        if (kind.isEnum()) {
            for (Object constant : kind.getEnumConstants()) {
                if (((Enum<?>) constant).name().equals(((String) value).toUpperCase(Locale.ROOT))) {
                    return constant;
                }
            }
            throw wrong(value, "a " + kind.getSimpleName(), at);
        }
        if (kind.isRecord()) {
            return record((Map<?, ?>) value, kind.asSubclass(Record.class), at);
        }
        return kind == boolean.class ? (Boolean) value : kind.cast(value);
    }

    private static Object readGeneric(@Nullable Object value, ParameterizedType type, String at) {
        if (type.getRawType() == Map.class) {
            return value instanceof Map ? value : Map.of();
        }
        List<@Nullable Object> items = new ArrayList<>();
        if (value instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                items.add(read(list.get(i), type.getActualTypeArguments()[0], at + "[" + i + "]"));
            }
        } else if (value != null) {
            throw wrong(value, "a list", at);
        }
        return items;
    }

    /**
     * Reads a record; an {@link IllegalArgumentException} names the position {@code at}, what was found, and what was
     * expected.
     */
    public static <T extends Record> T record(Map<?, ?> members, Class<T> kind, String at) {
        RecordComponent[] components = kind.getRecordComponents();
        @Nullable Object[] values = new @Nullable Object[components.length];
        Class<?>[] types = new Class<?>[components.length];
        for (int i = 0; i < components.length; i++) {
            String key = key(components[i].getName());
            types[i] = components[i].getType();
            values[i] = read(members.get(key), components[i].getGenericType(), at + "." + key);
        }
        try {
            Constructor<T> constructor = kind.getDeclaredConstructor(types);
            return constructor.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("making a " + kind, e);
        }
    }

    private static IllegalArgumentException wrong(Object found, String expected, String at) {
        return new IllegalArgumentException(at + ": found " + found + ", expected " + expected);
    }
}
