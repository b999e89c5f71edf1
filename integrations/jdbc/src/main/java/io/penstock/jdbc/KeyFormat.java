// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import java.io.IOException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * How keys are read from rows, bound to queries, and written as cursors: values with a comma behind each, where
 * {@code \} is before a comma or {@code \}.
 *
 * @param columns their names, as they are written in SQL
 * @param types how they travel
 * @param typeNames the database's names of their types
 */
record KeyFormat(List<String> columns, List<KeyType> types, List<String> typeNames) {

    KeyFormat {
        types = List.copyOf(types);
        typeNames = List.copyOf(typeNames);
    }

    /** {@return the format to try if the database does not find keys of this one again; the same if there is none} */
    KeyFormat orElse() {
        return new KeyFormat(columns, types.stream().map(KeyType::orElse).toList(), typeNames);
    }

    /** {@return the columns of the key, as a query selects them} */
    String selected() {
        return joined(i -> types.get(i).selected(columns.get(i), i));
    }

    /** {@return the condition for keys that are so, compared with one that is bound} */
    String compared(String comparison) {
        String marks = joined(i -> types.get(i).parameter(typeNames.get(i)));
        return columns.size() == 1 ? columns.getFirst() + " " + comparison + " " + marks
                : "(" + String.join(", ", columns) + ") " + comparison + " (" + marks + ")";
    }

    private String joined(IntFunction<String> of) {
        return IntStream.range(0, types.size()).mapToObj(of).collect(Collectors.joining(", "));
    }

    /** Reads the first columns of a row. */
    List<Object> read(ResultSet row) throws SQLException {
        Object[] key = new Object[types.size()];
        for (int i = 0; i < key.length; i++) {
            key[i] = types.get(i).read(row, i + 1);
        }
        return List.of(key);
    }

    /** Sets the first parameters. */
    void bind(PreparedStatement statement, List<Object> key) throws SQLException {
        for (int i = 0; i < key.size(); i++) {
            types.get(i).bind(statement, i + 1, key.get(i));
        }
    }

    boolean isSame(@Nullable List<Object> a, @Nullable List<Object> b) {
        return a != null && b != null && cursor(a).equals(cursor(b));
    }

    String cursor(List<Object> key) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < key.size(); i++) {
            text.append(types.get(i).text(key.get(i)).replace("\\", "\\\\").replace(",", "\\,")).append(',');
        }
        return text.toString();
    }

    /** {@return the values of a key, for messages} */
    String shown(List<Object> key) {
        return IntStream.range(0, key.size()).mapToObj(i -> types.get(i).text(key.get(i))).toList().toString();
    }

    /** {@return the key of a cursor; empty, as the cursor, where there is none} */
    List<Object> parse(String partition, String cursor) throws IOException {
        List<String> values = new ArrayList<>();
        StringBuilder value = new StringBuilder();
        for (int i = 0; i < cursor.length(); i++) {
            char c = cursor.charAt(i);
            if (c == ',') {
                values.add(value.toString());
                value.setLength(0);
            } else {
                value.append(c == '\\' && i + 1 < cursor.length() ? cursor.charAt(++i) : c);
            }
        }
        if (!value.isEmpty() || !cursor.isEmpty() && values.size() != types.size()) {
            throw new IOException(partition + ": found cursor '" + cursor + "', expected " + types.size()
                    + " values with a comma behind each");
        }
        List<Object> key = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            try {
                key.add(types.get(i).parse(values.get(i)));
            } catch (RuntimeException e) {
                throw new IOException(partition + ": found '" + values.get(i) + "' in cursor '" + cursor
                        + "', expected a value of type " + types.get(i) + " (was the table changed?)", e);
            }
        }
        return key;
    }
}
