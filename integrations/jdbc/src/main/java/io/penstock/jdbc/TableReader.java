// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Reads a partition of a table, page by page. */
final class TableReader implements PartitionReader {

    private final JdbcSource.Builder settings;
    private final KeyColumns key;
    private final String name;
    private final List<String> conditions;
    private final Connection connection;
    private final RowJson json;
    private final int keyColumns;
    /** The key that reading begins behind; none at the start. */
    private final List<String> start;
    /** The key of the last row, where there is one: a number for each whole number, a text for each other column. */
    private final long[] numbers;
    private final @Nullable String[] texts;
    private boolean hasRow;
    /** Of the first page, then of those that follow a key; null before the first. */
    private @Nullable PreparedStatement statement;
    private boolean isOfNext;
    private @Nullable ResultSet page;
    private int rowsOfPage;
    /** Whether the first column is read as bytes, and not as a text to encode. */
    private boolean isBytes;
    private boolean isPostgres;
    private boolean isOver;

    TableReader(JdbcSource.Builder settings, KeyColumns key, String name, List<String> conditions, String cursor)
            throws IOException {
        this.settings = settings;
        this.key = key;
        this.name = name;
        this.conditions = List.copyOf(conditions);
        this.start = CursorText.parse(name, cursor);
        this.keyColumns = settings.key.size();
        this.numbers = new long[keyColumns];
        this.texts = new String[keyColumns];
        this.json = new RowJson(settings.columns, keyColumns);
        if (!start.isEmpty() && start.size() != keyColumns) {
            throw new IOException(name + ": found cursor '" + cursor + "' of " + start.size() + " columns, expected "
                    + keyColumns);
        }
        try {
            connection = settings.database.open();
        } catch (SQLException e) {
            throw new IOException(name + ": " + e.getMessage(), e);
        }
        try {
            connection.setReadOnly(true);
        } catch (SQLException _) {
            // A hint, which SQLite and DuckDB refuse on a connection that is open.
        }
    }

    @Override
    public Found poll(RecordBuffer into) throws IOException {
        try {
            while (!isOver) {
                ResultSet rows = page == null ? nextPage() : page;
                if (rows.next()) {
                    rowsOfPage++;
                    give(rows, into);
                    return Found.RECORD;
                }
                boolean wasLast = rowsOfPage < settings.pageRows;
                closePage();
                if (wasLast) {
                    isOver = !settings.grows;
                    return isOver ? Found.END : Found.NOTHING_YET;
                }
            }
            return Found.END;
        } catch (SQLException e) {
            throw new IOException(name + ", behind key " + last() + ": " + e.getMessage(), e);
        }
    }

    private ResultSet nextPage() throws SQLException {
        List<String> last = last();
        boolean isNext = !last.isEmpty();
        PreparedStatement asked = statement;
        if (asked == null || isOfNext != isNext) {
            if (asked != null) {
                asked.close();
            }
            asked = connection.prepareStatement(settings.query(conditions, isNext));
            asked.setFetchSize(settings.pageRows);
            statement = asked;
            isOfNext = isNext;
            isPostgres = connection.getMetaData().getDatabaseProductName().equals("PostgreSQL");
            isBytes = switch (asked.getMetaData().getColumnType(keyColumns + 1)) {
                case Types.BINARY, Types.VARBINARY, Types.LONGVARBINARY, Types.BLOB -> true;
                // PostgreSQL's driver has the bytes in UTF-8, and gives them as they are.
                case Types.CHAR, Types.VARCHAR, Types.LONGVARCHAR -> isPostgres;
                default -> false;
            };
        }
        for (int i = 0; i < last.size(); i++) {
            // PostgreSQL reads the text as the column's type. Its driver would make a moment of a timestamp, in the
            // JVM's time zone, which lacks an hour where summer begins, and cut a time to milliseconds.
            asked.setObject(i + 1, last.get(i), isPostgres && !key.areWhole().get(i) ? Types.OTHER
                    : key.types().get(i));
        }
        rowsOfPage = 0;
        ResultSet rows = asked.executeQuery();
        page = rows;
        return rows;
    }

    private void give(ResultSet row, RecordBuffer into) throws SQLException, IOException {
        byte[] record = settings.columns.size() == 1 ? bytes(row) : json.of(row);
        readKey(row);
        into.add(record, 0, record.length);
    }

    private void readKey(ResultSet row) throws SQLException {
        for (int i = 0; i < keyColumns; i++) {
            if (key.areWhole().get(i)) {
                numbers[i] = row.getLong(i + 1);
            } else {
                texts[i] = row.getString(i + 1);
            }
        }
        hasRow = true;
    }

    /** The key of the last row, or the one that reading begins behind. */
    private List<String> last() {
        return hasRow ? IntStream.range(0, keyColumns).mapToObj(i -> key.areWhole().get(i) ? Long.toString(numbers[i])
                : String.valueOf(texts[i])).toList() : start;
    }

    private byte[] bytes(ResultSet row) throws SQLException, IOException {
        int column = keyColumns + 1;
        if (isBytes) {
            byte[] bytes = row.getBytes(column);
            if (bytes != null) {
                return bytes;
            }
        } else {
            String text = row.getString(column);
            if (text != null) {
                return text.getBytes(StandardCharsets.UTF_8);
            }
        }
        readKey(row);
        throw new IOException(name + ", key " + last() + ": found no value in column " + settings.columns.getFirst()
                + ", expected one; leave such rows out by where(…)");
    }

    private void closePage() throws SQLException {
        if (page != null) {
            page.close();
            page = null;
        }
    }

    @Override
    public String cursor() {
        return CursorText.of(last());
    }

    @Override
    public void close() throws IOException {
        try (connection) {
            closePage();
            if (statement != null) {
                statement.close();
            }
        } catch (SQLException e) {
            throw new IOException(name + ": " + e.getMessage(), e);
        }
    }
}
