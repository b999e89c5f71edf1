// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a database says of a table: that columns of it are a unique key without nulls, and how its values travel. */
final class KeyColumns {

    private final DatabaseMetaData database;
    private final JdbcSource.Builder settings;
    private final boolean isSqlite;
    /** The sets of columns that are unique. */
    private final Set<Set<String>> unique = new HashSet<>();
    private final Set<String> neverNull = new HashSet<>();

    private KeyColumns(Connection connection, JdbcSource.Builder settings) throws SQLException {
        this.database = connection.getMetaData();
        this.settings = settings;
        this.isSqlite = database.getDatabaseProductName().equals("SQLite");
    }

    /**
     * Looks at the columns.
     *
     * @return how they travel, as their types suggest
     * @throws IllegalArgumentException if they are no key
     */
    static KeyFormat of(Connection connection, JdbcSource.Builder settings) throws SQLException {
        var columns = new KeyColumns(connection, settings);
        String query = "select " + String.join(", ", settings.key) + ", " + String.join(", ", settings.columns)
                + " from " + settings.table + " where 1 = 0";
        try (PreparedStatement statement = connection.prepareStatement(query);
                ResultSet result = statement.executeQuery()) {
            ResultSetMetaData found = result.getMetaData();
            columns.lookAtTable(connection);
            return columns.check(found);
        }
    }

    private KeyFormat check(ResultSetMetaData found) throws SQLException {
        List<KeyType> types = new ArrayList<>();
        List<String> typeNames = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (int i = 1; i <= settings.key.size(); i++) {
            String name = lower(found.getColumnName(i));
            if (found.isNullable(i) == ResultSetMetaData.columnNullable && !neverNull.contains(name)) {
                throw refused(settings.key.get(i - 1) + " may be null");
            }
            names.add(name);
            typeNames.add(found.getColumnTypeName(i));
            types.add(KeyType.of(database.getDatabaseProductName(), found.getColumnType(i), found.getColumnTypeName(i),
                    String.valueOf(found.getColumnClassName(i))));
        }
        if (unique.stream().noneMatch(names::containsAll)) {
            throw refused(unique.isEmpty() ? "no unique index" : "the unique indexes " + unique);
        }
        return new KeyFormat(settings.key, types, typeNames);
    }

    private IllegalArgumentException refused(String found) {
        return new IllegalArgumentException(settings.table + ", key " + settings.key + ": found " + found
                + ", expected columns that are a primary key, or have a unique index and are not null");
    }

    private void lookAtTable(Connection connection) throws SQLException {
        String[] path = settings.table.replace("\"", "").split("\\.");
        Set<String> tables = spellings(path[path.length - 1]);
        String catalog = path.length == 1 ? connection.getCatalog() : null;
        List<@Nullable String> schemas = new ArrayList<>();
        if (path.length == 1) {
            schemas.add(schemaOf(connection, catalog, tables));
        } else {
            schemas.addAll(spellings(path[path.length - 2]));
        }
        for (String table : tables) {
            for (String schema : schemas) {
                Map<String, Set<String>> indexes = uniqueIndexes(catalog, schema, table);
                Set<String> primary = new HashSet<>();
                try (ResultSet rows = database.getPrimaryKeys(catalog, schema, table)) {
                    while (rows.next()) {
                        primary.add(lower(rows.getString("COLUMN_NAME")));
                    }
                }
                try (ResultSet rows = database.getColumns(catalog, schema, table, null)) {
                    while (rows.next()) {
                        if (rows.getString("TABLE_NAME").equals(table)
                                && "NO".equals(rows.getString("IS_NULLABLE"))) {
                            neverNull.add(lower(rows.getString("COLUMN_NAME")));
                        }
                    }
                }
                if (isSqlite) {
                    lookAtSqlite(connection, table, indexes, primary);
                }
                unique.addAll(indexes.values());
                if (!primary.isEmpty()) {
                    unique.add(primary);
                }
            }
        }
    }

    private Map<String, Set<String>> uniqueIndexes(@Nullable String catalog, @Nullable String schema, String table)
            throws SQLException {
        Map<String, Set<String>> indexes = new HashMap<>();
        Set<String> others = new HashSet<>();
        try (ResultSet rows = database.getIndexInfo(catalog, schema, table, true, true)) {
            while (rows.next()) {
                String index = rows.getString("INDEX_NAME");
                String column = rows.getString("COLUMN_NAME");
                String condition = rows.getString("FILTER_CONDITION");
                if (index == null) {
                    continue;               // the table's statistics
                }
                if (column == null || condition != null && !condition.isBlank()) {
                    // It says nothing of its other columns alone, or of the rows that do not satisfy its condition.
                    others.add(index);
                } else {
                    indexes.computeIfAbsent(index, _ -> new HashSet<>()).add(lower(column));
                }
            }
        }
        indexes.keySet().removeAll(others);
        return indexes;
    }

    /** What its driver does not say: which indexes have a condition, and which primary keys are never null. */
    private void lookAtSqlite(Connection connection, String table, Map<String, Set<String>> indexes,
            Set<String> primary) throws SQLException {
        boolean hasPrimaryIndex = false;
        try (PreparedStatement list = connection.prepareStatement(
                "select name, origin, partial from pragma_index_list(?)")) {
            list.setString(1, table);
            try (ResultSet rows = list.executeQuery()) {
                while (rows.next()) {
                    hasPrimaryIndex |= rows.getString(2).equals("pk");
                    if (rows.getBoolean(3)) {
                        indexes.remove(rows.getString(1));
                    }
                }
            }
        }
        // Without an index it is the number of the row. In a table without such numbers, it is never null either.
        if (!hasPrimaryIndex || isWithoutRowNumbers(connection, table)) {
            neverNull.addAll(primary);
        }
    }

    private static boolean isWithoutRowNumbers(Connection connection, String table) throws SQLException {
        try (PreparedStatement list = connection.prepareStatement(
                "select 1 from pragma_table_list where name = ? collate nocase and wr = 1")) {
            list.setString(1, table);
            try (ResultSet rows = list.executeQuery()) {
                return rows.next();
            }
        }
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
