// SPDX-License-Identifier: Apache-2.0
package io.penstock.json;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fields of a JSON object one by one, by name. Reading a field removes it from the object.
 *
 * <p>A missing field or one of another kind is an error; {@link #has} checks for an optional one. Fields that are never
 * read are ignored, unless the reader calls {@link #end}, as it does for Penstock's own files. An error is a
 * {@link JsonException} that names the document, the field, what was found and what was expected:
 *
 * <pre>{@code not a data profile: fields[2].channels: found 0, expected 1 to 64}</pre>
 */
public final class JsonFields {

    private final Map<String, @Nullable Object> fields;
    private final Set<String> known = new LinkedHashSet<>();
    private final String what;
    private final String path;

    private JsonFields(Object value, String what, String path) {
        if (!(value instanceof Map<?, ?>)) {
            throw new JsonException(at(what, path), -1, Json.shown(value), "an object");
        }
        this.fields = Json.object(value);
        this.what = what;
        this.path = path;
    }

    /**
     * Parses UTF-8 bytes that hold one object; {@code what} is the kind of document, such as {@code a loader state}.
     */
    public static JsonFields parse(byte[] utf8, String what) {
        return parse(() -> Json.parse(utf8), what);
    }

    /** Parses a text that holds one object; {@code what} is the kind of document, such as {@code a loader state}. */
    public static JsonFields parse(CharSequence text, String what) {
        return parse(() -> Json.parse(text), what);
    }

    private static JsonFields parse(Supplier<@Nullable Object> parser, String what) {
        @Nullable Object value;
        try {
            value = parser.get();
        } catch (JsonException e) {
            throw e.in(what);
        }
        return new JsonFields(value, what, "");
    }

    /** Tells whether a field exists and was not read yet; its value may be {@code null}. */
    public boolean has(String key) {
        known.add(key);
        return fields.containsKey(key);
    }

    /** Returns the names of the fields that were not read yet. */
    public List<String> names() {
        return List.copyOf(fields.keySet());
    }

    public @Nullable Object take(String key) {
        if (!has(key)) {
            throw wrong(key, "nothing", "a value");
        }
        return fields.remove(key);
    }

    /** Takes a field; null if it is missing or null. */
    public @Nullable Object takeIfThere(String key) {
        known.add(key);
        return fields.remove(key);
    }

    /** Takes a field that must have one value. */
    public void expect(String key, Object expected) {
        Object found = take(key, Object.class, Json.shown(expected));
        if (!expected.equals(found)) {
            throw wrong(key, Json.shown(found), Json.shown(expected));
        }
    }

    public String text(String key) {
        return take(key, String.class, "a string");
    }

    /** Takes a string; null if it is missing or null. */
    public @Nullable String textIfThere(String key) {
        Object value = takeIfThere(key);
        return value == null ? null : cast(key, value, String.class, "a string");
    }

    public boolean truth(String key) {
        return take(key, Boolean.class, "true or false");
    }

    /** Takes an integer of 64 bits. */
    public long whole(String key) {
        return take(key, Long.class, "a 64-bit integer");
    }

    /** Takes an integer of 32 bits. */
    public int integer(String key) {
        Object value = take(key, Object.class, "a 32-bit integer");
        if (value instanceof Long number && number == number.intValue()) {
            return number.intValue();
        }
        throw wrong(key, Json.shown(value), "a 32-bit integer");
    }

    /** Takes an integer within bounds, both included. */
    public long whole(String key, long least, long most) {
        return within(key, take(key, Object.class, range(least, most)), least, most);
    }

    /** Takes an array of integers within bounds, both included. */
    public long[] wholes(String key, long least, long most) {
        List<@Nullable Object> items = array(key);
        return IntStream.range(0, items.size()).mapToLong(i -> within(key + "[" + i + "]", items.get(i), least, most))
                .toArray();
    }

    /** Takes an array of numbers. */
    public double[] reals(String key) {
        List<@Nullable Object> items = array(key);
        return IntStream.range(0, items.size()).mapToDouble(i -> finite(key + "[" + i + "]", items.get(i))).toArray();
    }

    /** Returns a field's value as a number. */
    public double finite(String key, @Nullable Object value) {
        if (value instanceof Number number && Double.isFinite(number.doubleValue())) {
            return number.doubleValue();
        }
        throw wrong(key, Json.shown(value), "a finite number");
    }

    /** Takes an array of strings. */
    public List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        for (Object item : array(key)) {
            texts.add(cast(key + "[" + texts.size() + "]", item, String.class, "a string"));
        }
        return texts;
    }

    /** Takes all fields, which must be strings, in the order of the text. */
    public Map<String, String> texts() {
        Map<String, String> texts = new LinkedHashMap<>();
        for (String name : names()) {
            texts.put(name, text(name));
        }
        return texts;
    }

    public List<@Nullable Object> array(String key) {
        return Json.array(take(key, List.class, "an array"));
    }

    public JsonFields object(String key) {
        return new JsonFields(take(key, Map.class, "an object"), what, path(key));
    }

    /** Takes an object; null if it is missing or null. */
    public @Nullable JsonFields objectIfThere(String key) {
        Object value = takeIfThere(key);
        return value == null ? null : new JsonFields(value, what, path(key));
    }

    /** Takes an array of objects. */
    public List<JsonFields> objects(String key) {
        List<@Nullable Object> items = array(key);
        return IntStream.range(0, items.size())
                .mapToObj(i -> new JsonFields(items.get(i), what, path(key + "[" + i + "]"))).toList();
    }

    /** Rejects fields that were not read: a misspelled one must not be ignored. */
    public void end() {
        if (!fields.isEmpty()) {
            throw new JsonException(at(what, path), -1, Json.shown(fields.keySet().iterator().next()),
                    String.join(", ", known));
        }
    }

    /** Returns the error for a field with a wrong value. */
    public JsonException wrong(String key, String found, String expected) {
        return new JsonException(at(what, path(key)), -1, found, expected);
    }

    private long within(String key, @Nullable Object value, long least, long most) {
        if (value instanceof Long number && number >= least && number <= most) {
            return number;
        }
        throw wrong(key, Json.shown(value), range(least, most));
    }

    private static String range(long least, long most) {
        return most == Long.MAX_VALUE ? least + " or more" : least + " to " + most;
    }

    private <T> T take(String key, Class<T> type, String expected) {
        if (!has(key)) {
            throw wrong(key, "nothing", expected);
        }
        return cast(key, fields.remove(key), type, expected);
    }

    private <T> T cast(String key, @Nullable Object value, Class<T> type, String expected) {
        if (!type.isInstance(value)) {
            throw wrong(key, Json.shown(value), expected);
        }
        return type.cast(value);
    }

    private String path(String key) {
        return path.isEmpty() ? key : path + "." + key;
    }

    private static String at(String what, String path) {
        return "not " + what + ": " + (path.isEmpty() ? "" : path + ": ");
    }
}
