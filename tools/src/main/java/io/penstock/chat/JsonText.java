// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** JSON as Python's {@code json.dumps} writes it, which the filter {@code tojson} of transformers is. */
final class JsonText {

    private final Render render;
    private final boolean isAscii;
    private final boolean isSorted;
    /** What a level is indented by; null for one line. */
    private final String indent;
    private final String itemSeparator;
    private final String keySeparator;
    private final StringBuilder out = new StringBuilder();
    private int level;

    private JsonText(Render render, Object[] options) {
        this.render = render;
        isAscii = options[0] != Values.MISSING && Values.isTrue(options[0]);
        isSorted = options[3] != Values.MISSING && Values.isTrue(options[3]);
        Object by = options[1] == Values.MISSING ? null : options[1];
        String text = Values.string(by);
        indent = by == null ? null : text != null ? text : " ".repeat(Math.clamp(StringMethods.whole(by, 0), 0, 1000));
        if (options[2] == Values.MISSING || options[2] == null) {
            itemSeparator = indent == null ? ", " : ",";
            keySeparator = ": ";
            return;
        }
        if (!(options[2] instanceof List<?> pair && pair.size() == 2)) {
            throw Values.error("tojson: the separators must be two");
        }
        itemSeparator = StringMethods.string(pair.get(0));
        keySeparator = StringMethods.string(pair.get(1));
    }

    /** Writes a value; the options are ensure_ascii, indent, separators and sort_keys, missing if not given. */
    static String of(Render render, Object value, Object[] options) {
        JsonText json = new JsonText(render, options);
        json.value(value);
        return json.out.toString();
    }

    private void value(Object value) {
        render.step();
        switch (value) {
            case null -> out.append("null");
            case Boolean b -> out.append(b.booleanValue());
            case Double d -> out.append(number(d));
            case Values.Range r -> throw refused(value);
            case Map<?, ?> map -> object(map);
            case List<?> list -> array(list);
            default -> {
                String text = Values.string(value);
                if (text != null) {
                    string(text);
                } else if (Values.isInteger(value)) {
                    out.append(value);
                } else {
                    throw refused(value);
                }
            }
        }
    }

    private static ChatTemplateException refused(Object value) {
        return Values.error("tojson: " + Values.type(value) + " has no JSON form");
    }

    private static String number(double value) {
        return Double.isNaN(value) ? "NaN" : Double.isInfinite(value) ? value > 0 ? "Infinity" : "-Infinity"
                : Text.number(value);
    }

    private void array(List<?> list) {
        if (list.isEmpty()) {
            out.append("[]");
            return;
        }
        out.append('[');
        level++;
        for (int i = 0; i < list.size(); i++) {
            separate(i == 0);
            value(list.get(i));
        }
        close(']');
    }

    private void object(Map<?, ?> map) {
        if (map.isEmpty()) {
            out.append("{}");
            return;
        }
        out.append('{');
        level++;
        Iterator<? extends Map.Entry<?, ?>> entries = isSorted ? sorted(map) : map.entrySet().iterator();
        for (boolean isFirst = true; entries.hasNext(); isFirst = false) {
            Map.Entry<?, ?> entry = entries.next();
            separate(isFirst);
            string(key(entry.getKey()));
            out.append(keySeparator);
            value(entry.getValue());
        }
        close('}');
    }

    private Iterator<Map.Entry<?, ?>> sorted(Map<?, ?> map) {
        List<Map.Entry<?, ?>> entries = new ArrayList<>(map.entrySet());
        entries.sort((a, b) -> Comparisons.compare(render, a.getKey(), b.getKey()));
        return entries.iterator();
    }

    private static String key(Object key) {
        String text = Values.string(key);
        if (text == null && key != null && !Values.isInteger(key)) {
            throw Values.error("tojson: " + Values.type(key) + " cannot be a key in JSON");
        }
        return text != null ? text : key == null ? "null" : key.toString();
    }

    private void separate(boolean isFirst) {
        out.append(isFirst ? "" : itemSeparator);
        line();
    }

    private void close(char bracket) {
        level--;
        line();
        out.append(bracket);
    }

    private void line() {
        if (indent != null) {
            render.bound((long) level * indent.length() + out.length());
            out.append('\n').repeat(indent, level);
        }
    }

    private void string(String text) {
        render.read(text.length());
        render.bound((long) out.length() + text.length());
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
                    if (c < ' ' || isAscii && c > '~') {
                        out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
