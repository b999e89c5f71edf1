// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Asks the database whether a key that came from it is still the same when it goes back, so that a page begins behind
 * the row where the page before it ended. A binary key that went as text, or a number that was rounded on the way,
 * would lose rows or repeat them without an error.
 *
 * <p>The order of the rows ({@code order by}) is the truth that comparisons ({@code >}, {@code <}) are held against.
 */
final class KeyProof {

    /** Keys at each end of the table that are tried when it is opened. */
    private static final int SAMPLE_ROWS = 5;
    /** Other programs may insert and delete rows between two queries, but not each time. */
    static final int TRIES = 3;

    private final Connection connection;
    private final JdbcSource.Builder settings;
    private final KeyFormat format;
    private final List<String> conditions;

    KeyProof(Connection connection, JdbcSource.Builder settings, KeyFormat format, List<String> conditions) {
        this.connection = connection;
        this.settings = settings;
        this.format = format;
        this.conditions = conditions;
    }

    /**
     * Finds the format of a table's keys, by keys that it has.
     *
     * @param typed the one that the types of the columns suggest
     * @throws IllegalArgumentException if the database finds keys of no format again
     */
    static KeyFormat choose(Connection connection, JdbcSource.Builder settings, KeyFormat typed) throws SQLException {
        IllegalArgumentException changed = null;
        SQLException failed = null;
        for (KeyFormat format = typed;; format = format.orElse()) {
            try {
                new KeyProof(connection, settings, format, List.of()).sample();
                return format;
            } catch (SQLException e) {
                failed = failed == null ? e : failed;
            } catch (IllegalArgumentException e) {
                changed = changed == null ? e : changed;
            }
            if (!connection.getAutoCommit()) {
                connection.rollback();              // some databases take no query behind one that failed
            }
            if (format.orElse().equals(format)) {
                break;
            }
        }
        if (changed != null) {
            throw changed;
        }
        throw new SQLException("key " + settings.key + " as " + typed.types() + ": "
                + Objects.requireNonNull(failed).getMessage(), failed);
    }

    private void sample() throws SQLException {
        @Nullable String wrong = "";
        for (int i = 0; i < TRIES && wrong != null; i++) {
            List<List<Object>> ascending = keys("", null, false, SAMPLE_ROWS);
            wrong = firstWrong(ascending);
            if (wrong == null && ascending.size() == SAMPLE_ROWS) {
                wrong = firstWrong(keys("", null, true, SAMPLE_ROWS).reversed());
            }
        }
        if (wrong != null) {
            throw refused(wrong);
        }
    }

    /** What is found instead of a neighbor; null if all are right. */
    private @Nullable String firstWrong(List<List<Object>> keys) throws SQLException {
        for (int i = 1; i < keys.size(); i++) {
            List<Object> key = keys.get(i - 1);
            List<Object> next = keys.get(i);
            List<List<Object>> behind = keys(">", key, false, 1);
            if (behind.isEmpty() || !format.isSame(behind.getFirst(), next)) {
                return found(behind, "behind", key, next);
            }
            List<List<Object>> before = keys("<", next, true, 1);
            if (before.isEmpty() || !format.isSame(before.getFirst(), key)) {
                return found(before, "before", next, key);
            }
        }
        return null;
    }

    private String found(List<List<Object>> found, String where, List<Object> key, List<Object> expected) {
        return (found.isEmpty() ? "no key" : "key " + format.shown(found.getFirst())) + " " + where + " key "
                + format.shown(key) + " where the table has " + format.shown(expected);
    }

    /** A key that the database does not find again. */
    IllegalArgumentException refused(String found) {
        return new IllegalArgumentException(settings.table + ", key " + settings.key + " as " + format.types()
                + ": found " + found + ": values of these columns change on their way from the database and back, or it"
                + " compares them in another way than it sorts them. Rows would be lost or repeated. Expected another"
                + " key, such as one of whole numbers");
    }

    /**
     * Whether no row lies between a key and the one that the database says is the next. If the row of the key is gone,
     * there is nothing to compare with, and it is believed.
     *
     * @param key where the rows were read to
     * @param next the first key that is greater; null if there is none
     */
    boolean isNext(List<Object> key, @Nullable List<Object> next) throws SQLException {
        if (format.isSame(key, next)) {
            return false;
        }
        String comparison = next == null ? "" : "<";
        List<List<Object>> before = keys(comparison, next, true, 1);
        return before.isEmpty() || format.isSame(before.getFirst(), key)
                || keys(comparison, next, true, settings.pageRows).stream().noneMatch(k -> format.isSame(k, key));
    }

    /** The first keys, or the last ones from behind, of those that compare so with a key. */
    private List<List<Object>> keys(String comparison, @Nullable List<Object> key, boolean isDescending, int rows)
            throws SQLException {
        String query = settings.query(format, List.of(), conditions, comparison, isDescending, rows);
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            if (!comparison.isEmpty()) {
                format.bind(statement, Objects.requireNonNull(key));
            }
            List<List<Object>> keys = new ArrayList<>();
            try (ResultSet found = statement.executeQuery()) {
                while (found.next()) {
                    keys.add(format.read(found));
                }
            }
            return keys;
        }
    }
}
