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
            Set<Set<String>> unique = uniqueKeys(connection, settings.table);
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
    private static Set<Set<String>> uniqueKeys(Connection connection, String written) throws SQLException {
        DatabaseMetaData database = connection.getMetaData();
        String[] path = written.replace("\"", "").split("\\.");
        Set<String> tables = spellings(path[path.length - 1]);
        String catalog = path.length == 1 ? connection.getCatalog() : null;
        List<@Nullable String> schemas = new ArrayList<>();
        if (path.length == 1) {
            schemas.add(schemaOf(connection, catalog, tables));
        } else {
            schemas.addAll(spellings(path[path.length - 2]));
        }
        Set<Set<String>> found = new HashSet<>();
        for (String table : tables) {
            for (String schema : schemas) {
                Map<String, Set<String>> indexes = new HashMap<>();
                try (ResultSet rows = database.getIndexInfo(catalog, schema, table, true, true)) {
                    while (rows.next()) {
                        String column = rows.getString("COLUMN_NAME");
                        String condition = rows.getString("FILTER_CONDITION");
                        // An index with a condition says nothing of the rows that do not satisfy it.
                        if (column != null && (condition == null || condition.isBlank())) {
                            indexes.computeIfAbsent(rows.getString("INDEX_NAME"), _ -> new HashSet<>())
                                    .add(lower(column));
                        }
                    }
                }
                try (ResultSet rows = database.getPrimaryKeys(catalog, schema, table)) {
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

    /** The schema of a table that is named without one: the current one if it has such a table, otherwise any. */
    private static @Nullable String schemaOf(Connection connection, @Nullable String catalog, Set<String> names)
            throws SQLException {
        String current = connection.getSchema();
        if (current != null) {
            for (String name : names) {
                try (ResultSet tables = connection.getMetaData().getTables(catalog, current, name, null)) {
                    if (tables.next()) {
                        return current;
                    }
                }
            }
        }
        return null;
    }

    /** How a database may keep a name: as it is written, or in one case. */
    private static Set<String> spellings(String name) {
        return new LinkedHashSet<>(List.of(name, name.toUpperCase(Locale.ROOT), lower(name)));
    }

    private static String lower(String name) {
        return name.replace("\"", "").toLowerCase(Locale.ROOT);
    }
}
