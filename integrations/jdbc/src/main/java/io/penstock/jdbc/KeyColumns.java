// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a table's key, which is unique and not null.
 *
 * @param types their types, of {@link Types}
 * @param areWhole which of them are whole numbers from -2^63 to 2^63 - 1
 */
record KeyColumns(List<Integer> types, List<Boolean> areWhole) {

    /**
     * Looks at the columns.
     *
     * @throws IllegalArgumentException if they are no key
     */
    static KeyColumns of(Connection connection, JdbcSource.Builder settings) throws SQLException {
        String query = "select " + String.join(", ", settings.key) + ", " + String.join(", ", settings.columns)
                + " from " + settings.table + " where 1 = 0";
        try (PreparedStatement statement = connection.prepareStatement(query);
                ResultSet result = statement.executeQuery()) {
            ResultSetMetaData columns = result.getMetaData();
            List<Integer> types = new ArrayList<>();
            List<Boolean> areWhole = new ArrayList<>();
            Set<String> names = new HashSet<>();
            for (int i = 1; i <= settings.key.size(); i++) {
                int type = columns.getColumnType(i);
                types.add(type);
                areWhole.add(columns.isSigned(i) && (type == Types.BIGINT || type == Types.INTEGER
                        || type == Types.SMALLINT));
                names.add(lower(columns.getColumnName(i)));
                if (columns.isNullable(i) == ResultSetMetaData.columnNullable) {
                    throw refused(settings, settings.key.get(i - 1) + " may be null");
                }
            }
            Set<Set<String>> unique = uniqueKeys(connection.getMetaData(), settings.table);
            if (unique.stream().noneMatch(names::containsAll)) {
                throw refused(settings, unique.isEmpty() ? "no unique index" : "the unique indexes " + unique);
            }
            return new KeyColumns(List.copyOf(types), List.copyOf(areWhole));
        }
    }

    private static IllegalArgumentException refused(JdbcSource.Builder settings, String found) {
        return new IllegalArgumentException(settings.table + ", key " + settings.key + ": found " + found
                + ", expected columns that are a primary key, or have a unique index and are not null");
    }

    /** The sets of columns that are unique. */
    private static Set<Set<String>> uniqueKeys(DatabaseMetaData database, String written) throws SQLException {
        String[] path = written.replace("\"", "").split("\\.");
        Set<Set<String>> found = new HashSet<>();
        for (String table : spellings(path[path.length - 1])) {
            for (String schema : path.length == 1 ? Collections.<@Nullable String>singleton(null)
                    : spellings(path[path.length - 2])) {
                Map<String, Set<String>> indexes = new HashMap<>();
                try (ResultSet rows = database.getIndexInfo(null, schema, table, true, true)) {
                    while (rows.next()) {
                        String column = rows.getString("COLUMN_NAME");
                        if (column != null) {
                            indexes.computeIfAbsent(rows.getString("INDEX_NAME"), _ -> new HashSet<>())
                                    .add(lower(column));
                        }
                    }
                }
                try (ResultSet rows = database.getPrimaryKeys(null, schema, table)) {
                    while (rows.next()) {
                        indexes.computeIfAbsent("primary key", _ -> new HashSet<>())
                                .add(lower(rows.getString("COLUMN_NAME")));
                    }
                }
                indexes.values().forEach(columns -> found.add(Set.copyOf(columns)));
            }
        }
        return found;
    }

    /** How a database may keep a name: as it is written, or in one case. */
    private static Set<String> spellings(String name) {
        return new LinkedHashSet<>(List.of(name, name.toUpperCase(Locale.ROOT), lower(name)));
    }

    private static String lower(String name) {
        return name.replace("\"", "").toLowerCase(Locale.ROOT);
    }
}
