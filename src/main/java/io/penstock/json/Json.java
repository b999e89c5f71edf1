// SPDX-License-Identifier: Apache-2.0
package io.penstock.json;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads and writes JSON text; the package comment has the mapping to Java values. */
public final class Json {

    private static final int MOST_SHOWN_CHARS = 200;

    /** Parses a text that holds one value; an error's offset counts chars. */
    public static @Nullable Object parse(CharSequence text) {
        byte[] utf8 = encode(text);
        try {
            return parse(utf8);
        } catch (JsonException e) {
            throw e.at(new String(utf8, 0, (int) e.offset(), StandardCharsets.UTF_8).length());
        }
    }

    /** Parses UTF-8 bytes that hold one value, without a byte order mark; an error's offset counts bytes. */
    public static @Nullable Object parse(byte[] utf8) {
        return parse(utf8, 0, utf8.length);
    }

    /**
     * Parses a range of UTF-8 bytes that holds one value, such as a line of JSONL; an error's offset counts from {@code
     * from}.
     */
    public static @Nullable Object parse(byte[] utf8, int from, int to) {
        return new JsonParser(utf8, from, to).document();
    }

    /**
     * Writes a value on one line without spaces: a map with string keys, an iterable, a string, a finite number, a
     * boolean or null, nested at will.
     *
     * @throws IllegalArgumentException if the value, or one within it, has no JSON form
     */
    public static String write(@Nullable Object value) {
        return new JsonWriter(false).text(value);
    }

    /**
     * Writes a value for people: two spaces per level, arrays without arrays or objects in them on one line, a line
     * feed at the end. Takes and throws what {@link #write} does.
     */
    public static String pretty(@Nullable Object value) {
        return new JsonWriter(true).text(value) + "\n";
    }

    /** Returns a map of alternating names and values, in order; it may be changed. */
    public static Map<String, @Nullable Object> members(@Nullable Object... namesAndValues) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            members.put((String) Objects.requireNonNull(namesAndValues[i]), namesAndValues[i + 1]);
        }
        return members;
    }

    /** Returns a parsed value that must be an object. */
    @SuppressWarnings("unchecked")
    public static Map<String, @Nullable Object> object(@Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return (Map<String, @Nullable Object>) map;
        }
        throw new JsonException("", -1, shown(value), "an object");
    }

    /** Returns a parsed value that must be an array. */
    @SuppressWarnings("unchecked")
    public static List<@Nullable Object> array(@Nullable Object value) {
        if (value instanceof List<?> list) {
            return (List<@Nullable Object>) list;
        }
        throw new JsonException("", -1, shown(value), "an array");
    }

    /**
     * Returns a parsed value for a message: {@code 'text'}, {@code 7}, {@code null}, {@code an object} or {@code an
     * array}.
     */
    public static String shown(@Nullable Object value) {
        String text = value instanceof Map ? "an object" : value instanceof List ? "an array"
                : value instanceof String ? "'" + value + "'" : String.valueOf(value);
        return text.length() <= MOST_SHOWN_CHARS ? text : text.substring(0, MOST_SHOWN_CHARS) + "…";
    }

    private static byte[] encode(CharSequence text) {
        ByteBuffer out = ByteBuffer.allocate(Math.multiplyExact(3, text.length()));
        CharBuffer in = CharBuffer.wrap(text);
        CoderResult result = StandardCharsets.UTF_8.newEncoder().encode(in, out, true);
        if (result.isError()) {
            throw new JsonException(in.position(), "an unpaired surrogate", "a character");
        }
        byte[] utf8 = new byte[out.flip().remaining()];
        out.get(utf8);
        return utf8;
    }
}
