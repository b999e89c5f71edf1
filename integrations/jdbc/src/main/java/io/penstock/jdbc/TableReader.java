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
import org.jspecify.annotations.Nullable;

/** Reads a partition of a table, page by page. */
final class TableReader implements PartitionReader {

    private final JdbcSource.Builder settings;
    private final KeyFormat key;
    private final String name;
    private final List<String> conditions;
    private final Connection connection;
    private final RowJson json;
    private final int keyColumns;
    private final KeyProof proof;
    /** The key of the last row, or the one that reading begins behind; empty before the first row. */
    private List<Object> last;
    /** The key behind the last one, as the page said that ended there; null if it did not see one. */
    private @Nullable List<Object> expected;
    /** Whether a page ended at the last key because there were no more rows. */
    private boolean isAtEnd;
    /** Whether the page was gone to its first row when it was asked for. */
    private boolean isOnFirstRow;
    /** Of the first page, then of those that follow a key; null before the first. */
    private @Nullable PreparedStatement statement;
    private boolean isOfNext;
    private @Nullable ResultSet page;
    private int rowsOfPage;
    /** Whether the first column is read as bytes, and not as a text to encode. */
    private boolean isBytes;
    /** Whether each value has a type of its own. */
    private boolean isTypeOfValue;
    private boolean isOver;

    TableReader(JdbcSource.Builder settings, KeyFormat key, String name, List<String> conditions, String cursor)
            throws IOException {
        this.settings = settings;
        this.key = key;
        this.name = name;
        this.conditions = List.copyOf(conditions);
        this.last = key.parse(name, cursor);
        this.keyColumns = settings.key.size();
        this.json = new RowJson(settings.columns, keyColumns);
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
        this.proof = new KeyProof(connection, settings, key, this.conditions);
    }

    @Override
    public Found poll(RecordBuffer into) throws IOException {
        try {
            while (!isOver) {
                ResultSet rows = page;
                boolean isOnRow;
                if (rows == null) {
                    rows = nextPage();
                    isOnRow = isOnFirstRow;
                } else {
                    isOnRow = rows.next();
                }
                if (isOnRow && rowsOfPage < settings.pageRows) {
                    rowsOfPage++;
                    give(rows, into);
                    return Found.RECORD;
                }
                expected = isOnRow ? key.read(rows) : null;
                isAtEnd = !isOnRow;
                closePage();
                if (isAtEnd) {
                    isOver = !settings.grows;
                    if (!isOver && !connection.getAutoCommit()) {
                        connection.commit();        // which sees nothing new under "repeatable read"
                    }
                    return isOver ? Found.END : Found.NOTHING_YET;
                }
            }
            return Found.END;
        } catch (SQLException | IllegalArgumentException e) {
            throw new IOException(name + ", behind key " + key.shown(last) + ": " + e.getMessage(), e);
        }
    }

    /** Asks for the next page, goes to its first row if it has one, and checks that no row was lost or comes again. */
    private ResultSet nextPage() throws SQLException {
        List<Object> first = null;
        for (int i = 0; i < KeyProof.TRIES; i++) {
            ResultSet rows = ask();
            isOnFirstRow = rows.next();
            first = isOnFirstRow ? key.read(rows) : null;
            if (last.isEmpty() || first == null && isAtEnd || key.isSame(first, expected)
                    || proof.isNext(last, first)) {
                rowsOfPage = 0;
                page = rows;
                return rows;
            }
            rows.close();
        }
        throw proof.refused((first == null ? "no key" : "key " + key.shown(first)) + " behind key " + key.shown(last)
                + " where the table has another one");
    }

    private ResultSet ask() throws SQLException {
        boolean isNext = !last.isEmpty();
        PreparedStatement asked = statement;
        if (asked == null || isOfNext != isNext) {
            if (asked != null) {
                asked.close();
            }
            // One more than a page has: the first of the page behind it
            long rows = settings.pageRows + 1L;
            asked = connection.prepareStatement(settings.query(key, settings.columns, conditions, isNext ? ">" : "",
                    false, rows));
            asked.setFetchSize((int) Math.min(rows, Integer.MAX_VALUE));
            statement = asked;
            isOfNext = isNext;
            String product = connection.getMetaData().getDatabaseProductName();
            isTypeOfValue = product.equals("SQLite");
            isBytes = switch (asked.getMetaData().getColumnType(keyColumns + 1)) {
                case Types.BINARY, Types.VARBINARY, Types.LONGVARBINARY, Types.BLOB -> true;
                // PostgreSQL's driver has the bytes in UTF-8, and gives them as they are.
                case Types.CHAR, Types.VARCHAR, Types.LONGVARCHAR -> product.equals("PostgreSQL");
                default -> false;
            };
        }
        key.bind(asked, last);
        return asked.executeQuery();
    }

    private void give(ResultSet row, RecordBuffer into) throws SQLException, IOException {
        List<Object> own = key.read(row);
        byte[] record = settings.columns.size() == 1 ? bytes(row, own) : json.of(row);
        last = own;
        into.add(record, 0, record.length);
    }

    private byte[] bytes(ResultSet row, List<Object> own) throws SQLException, IOException {
        int column = keyColumns + 1;
        if (isTypeOfValue ? row.getObject(column) instanceof byte[] : isBytes) {
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
        throw new IOException(name + ", key " + key.shown(own) + ": found no value in column "
                + settings.columns.getFirst() + ", expected one; leave such rows out by where(…)");
    }

    private void closePage() throws SQLException {
        if (page != null) {
            page.close();
            page = null;
        }
    }

    @Override
    public String cursor() {
        return key.cursor(last);
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
