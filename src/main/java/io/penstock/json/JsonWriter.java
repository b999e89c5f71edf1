// SPDX-License-Identifier: Apache-2.0
package io.penstock.json;

import java.math.BigInteger;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Appends values to a text, compact or indented. */
final class JsonWriter {

    private final StringBuilder out = new StringBuilder();
    private final boolean pretty;
    private int level;

    JsonWriter(boolean pretty) {
        this.pretty = pretty;
    }

    String text(@Nullable Object value) {
        value(value);
        return out.toString();
    }

    static String quoted(String text) {
        JsonWriter writer = new JsonWriter(false);
        writer.string(text);
        return writer.out.toString();
    }

    private void value(@Nullable Object value) {
        switch (value) {
            case null -> out.append("null");
            case String text -> string(text);
            case Boolean b -> out.append(b);
            case Long n -> out.append(n.longValue());
            case Integer n -> out.append(n.intValue());
            case Short n -> out.append(n);
            case Byte n -> out.append(n);
            case BigInteger n -> out.append(n);
            case Double d -> finite(d, d.toString());
            case Float f -> finite(f, f.toString());
            case Map<?, ?> map -> object(map);
            case Iterable<?> items -> array(items);
            default -> throw new IllegalArgumentException("no JSON form for a " + value.getClass().getName());
        }
    }

    private void finite(double value, String text) {
        if (!Double.isFinite(value)) {
            throw new IllegalArgumentException("no JSON form for the number " + value);
        }
        out.append(text);
    }

    private void object(Map<?, ?> map) {
        out.append('{');
        level++;
        boolean first = true;
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            if (!(entry.getKey() instanceof String key)) {
                throw new IllegalArgumentException("no JSON form for the key " + entry.getKey());
            }
            separate(first, true);
            first = false;
            string(key);
            out.append(pretty ? ": " : ":");
            value(entry.getValue());
        }
        level--;
        close('}', !first);
    }

    private void array(Iterable<?> items) {
        boolean lines = pretty && hasContainers(items);
        out.append('[');
        level++;
        boolean first = true;
        for (Object item : items) {
            separate(first, lines);
            first = false;
            value(item);
        }
        level--;
        close(']', lines);
    }

    private void separate(boolean first, boolean lines) {
        if (!first) {
            out.append(',');
        }
        if (pretty && lines) {
            newLine();
        } else if (pretty && !first) {
            out.append(' ');
        }
    }

    private void close(char bracket, boolean lines) {
        if (pretty && lines) {
            newLine();
        }
        out.append(bracket);
    }

    private void newLine() {
        out.append('\n').repeat("  ", level);
    }

    private static boolean hasContainers(Iterable<?> items) {
        for (Object item : items) {
            if (item instanceof Map || item instanceof Iterable) {
                return true;
            }
        }
        return false;
    }

    private void string(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                default -> {
                    if (c < 0x20) {
                        out.append("\\u00").append(HexFormat.of().toHexDigits((byte) c));
                    } else {
                        checkPaired(text, i);
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }

    private static void checkPaired(String text, int i) {
        char c = text.charAt(i);
        boolean unpaired = Character.isHighSurrogate(c)
                ? i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1))
                : Character.isLowSurrogate(c) && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
        if (unpaired) {
            throw new IllegalArgumentException("no JSON form for an unpaired surrogate at char " + i);
        }
    }
}
