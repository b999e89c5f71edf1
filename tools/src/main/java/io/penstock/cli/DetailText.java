// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes a JSON value as indented text, one value per line; shortens long lists. */
final class DetailText {

    private static final int SHOWN = 12;
    private static final int LINE_CHARS = 100;
    private static final String INDENT = "  ";
    private static final String COUNT = "_count";

    /** Appends all details. A list may have only the first of those that its count beside it counts. */
    static void append(StringBuilder text, Map<String, ? extends @Nullable Object> details) {
        details.forEach((name, value) -> append(text, 1, name, value, value instanceof List<?> list
                ? Math.max(list.size(), counted(details, name)) : 0));
    }

    /** The count of a list, such as sample_count of samples; 0 if there is none. */
    private static long counted(Map<String, ? extends @Nullable Object> details, String list) {
        return details.entrySet().stream().filter(entry -> entry.getKey().endsWith(COUNT)
                && list.startsWith(entry.getKey().substring(0, entry.getKey().length() - COUNT.length())))
                .mapToLong(entry -> entry.getValue() instanceof Number number ? number.longValue() : 0).max().orElse(0);
    }

    static void append(StringBuilder text, int depth, String name, @Nullable Object value) {
        append(text, depth, name, value, value instanceof List<?> list ? list.size() : 0);
    }

    private static void append(StringBuilder text, int depth, String name, @Nullable Object value, long items) {
        text.repeat(INDENT, depth).append(name).append(':');
        String line = value instanceof Map<?, ?> map && !map.isEmpty() ? null : inLine(value, items);
        if (line != null) {
            text.append(' ').append(line).append('\n');
            return;
        }
        text.append('\n');
        if (value instanceof Map<?, ?> map) {
            map.forEach((key, each) -> append(text, depth + 1, String.valueOf(key), each));
        } else if (value instanceof List<?> list) {
            list.stream().limit(SHOWN).forEach(each -> appendItem(text, depth + 1, each));
            long shown = Math.min(list.size(), SHOWN);
            if (items > shown) {
                text.repeat(INDENT, depth + 1).append("… and ").append(items - shown).append(" more\n");
            }
        }
    }

    private static void appendItem(StringBuilder text, int depth, @Nullable Object item) {
        String line = inLine(item, item instanceof List<?> list ? list.size() : 0);
        if (line != null || !(item instanceof Map<?, ?> map)) {
            text.repeat(INDENT, depth).append("- ").append(line == null ? item : line).append('\n');
            return;
        }
        String first = "- ";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            int start = text.length();
            append(text, depth + 1, String.valueOf(entry.getKey()), entry.getValue());
            text.replace(start, start + INDENT.length() * (depth + 1), INDENT.repeat(depth) + first);
            first = INDENT;
        }
    }

    /** A value that fits one line; null if it takes several. */
    private static @Nullable String inLine(@Nullable Object value, long items) {
        boolean nested = value instanceof Map<?, ?> map && !map.isEmpty()
                || value instanceof List<?> list && list.stream().anyMatch(e -> e instanceof Map || e instanceof List);
        String line = nested && String.valueOf(value).length() > LINE_CHARS ? null : String.valueOf(value);
        if (line != null && line.length() > LINE_CHARS && value instanceof List<?> list && list.size() > SHOWN) {
            return list.subList(0, SHOWN).toString().replaceAll("]$", "") + ", … " + items + " in all]";
        }
        return line;
    }
}
