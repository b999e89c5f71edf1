// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import io.penstock.stream.PartitionReader;
import io.penstock.stream.StreamSource;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * The rows of a table, in the order of a unique key. A page of rows follows the last key of the page before it, so that
 * no page reads what it skips, and a cursor is a key.
 *
 * {@snippet :
 * StreamSource posts = JdbcSource.builder(database, "posts", "id").columns("title", "body").open();
 * var documents = TokenDocumentSource.of(posts, RecordText.jsonField("body"), Tokenizer.of("gpt2"));
 * try (StreamDataset windows = StreamDataset.builder(new TokenWindowSource(documents, 1025))
 *                 .field("tokens", DType.U16, 1025).shuffle(42, 8192).open();
 *         DataLoader loader = DataLoader.builder(windows).collator(CausalLm.narrow()).batchSize(32).open()) {
 *     train(loader);
 * }
 * }
 *
 * <p><b>Records.</b> A record of one column is its bytes, text in UTF-8; a record of several is a JSON object.
 *
 * <p><b>Key.</b> The key is the table's primary key, or other columns that have a unique index and are not null. A
 * table without such a key is refused: pages could lose rows or repeat them. Rows that are inserted later with a
 * smaller key than the last one read are missed, so use a key that grows.
 *
 * <p>Values of all types that a database sorts may be keys, if they come back to it as they were. The database itself
 * checks that: for some keys when the table is opened, then at each page and cursor that reading begins behind. A key
 * for which it does not hold is refused by name, such as one of MariaDB's {@code float} or {@code enum}.
 *
 * <p><b>Connections.</b> Each partition has its own, used by the stream's thread; read-only if the driver lets it.
 */
public final class JdbcSource implements StreamSource {

    private final Builder settings;
    private final KeyFormat key;

    private JdbcSource(Builder settings, KeyFormat key) {
        this.settings = settings;
        this.key = key;
    }

    /**
     * Returns the settings of a source.
     *
     * @param database gives connections
     * @param table the table or view, as it is written in SQL
     * @param key the columns of the key, in order
     * @return the settings, which need at least one column
     */
    public static Builder builder(DataSource database, String table, String... key) {
        Objects.requireNonNull(database, "database");
        return new Builder(database::getConnection, table, List.of(key));
    }

    static Builder builder(Connections database, String table, String... key) {
        return new Builder(database, table, List.of(key));
    }

    /** Gives connections, each to be closed by the caller. */
    @FunctionalInterface
    interface Connections {

        /** {@return a new one} */
        Connection open() throws SQLException;
    }

    @Override
    public String fingerprint() {
        return "table:" + settings.table + " by " + settings.key + ": " + settings.columns
                + (settings.condition.isEmpty() ? "" : " where " + settings.condition);
    }

    @Override
    public List<String> partitions() {
        List<Long> bounds = settings.bounds;
        return bounds.isEmpty() ? List.of(settings.table) : IntStream.rangeClosed(0, bounds.size())
                .mapToObj(i -> (i == 0 ? "" : bounds.get(i - 1) + " < ") + settings.key.getFirst()
                        + (i == bounds.size() ? "" : " <= " + bounds.get(i)))
                .toList();
    }

    @Override
    public PartitionReader open(int partition, String cursor) throws IOException {
        List<String> conditions = new ArrayList<>();
        if (!settings.condition.isEmpty()) {
            conditions.add("(" + settings.condition + ")");
        }
        if (partition > 0) {
            conditions.add(settings.key.getFirst() + " > " + settings.bounds.get(partition - 1));
        }
        if (partition < settings.bounds.size()) {
            conditions.add(settings.key.getFirst() + " <= " + settings.bounds.get(partition));
        }
        return new TableReader(settings, key, partitions().get(partition), conditions, cursor);
    }

    /** How a database is asked for the first rows of a result. */
    public enum Paging {
        /** {@code limit n}: PostgreSQL, MySQL, MariaDB, SQLite, DuckDB, H2. */
        LIMIT,
        /** {@code fetch first n rows only}: Oracle, Db2, SQL Server from {@code offset 0 rows} on, Derby. */
        FETCH_FIRST;

        String clause(long rows) {
            return this == LIMIT ? " limit " + rows : " offset 0 rows fetch first " + rows + " rows only";
        }
    }

    /** The settings of a {@link JdbcSource}. */
    public static final class Builder {

        final Connections database;
        final String table;
        final List<String> key;
        List<String> columns = List.of();
        String condition = "";
        List<Long> bounds = List.of();
        int pageRows = 2000;
        Paging paging = Paging.LIMIT;
        boolean grows;

        private Builder(Connections database, String table, List<String> key) {
            this.database = database;
            this.table = Objects.requireNonNull(table, "table");
            this.key = key;
            if (key.isEmpty()) {
                throw new IllegalArgumentException(table + ": no key was named, expected the columns of a unique key");
            }
        }

        /** The same settings, which do not change with these. */
        private Builder(Builder of) {
            this.database = of.database;
            this.table = of.table;
            this.key = of.key;
            this.columns = of.columns;
            this.condition = of.condition;
            this.bounds = of.bounds;
            this.pageRows = of.pageRows;
            this.paging = of.paging;
            this.grows = of.grows;
        }

        /**
         * Names the columns of a record.
         *
         * @param names at least one, as they are written in SQL
         * @return this
         */
        public Builder columns(String... names) {
            this.columns = List.of(names);
            return this;
        }

        /**
         * Reads only rows that satisfy a condition.
         *
         * @param sql the condition, as behind {@code where}; it must not change its mind about a row
         * @return this
         */
        public Builder where(String sql) {
            this.condition = Objects.requireNonNull(sql, "sql");
            return this;
        }

        /**
         * Divides the table into partitions, by the first column of the key, which must be an integer: up to the first
         * bound, included, then up to the next one, and at last from the last bound on. Default: one partition.
         *
         * @param ascending the bounds
         * @return this
         * @throws IllegalArgumentException if they do not ascend
         */
        public Builder bounds(long... ascending) {
            for (int i = 1; i < ascending.length; i++) {
                if (ascending[i] <= ascending[i - 1]) {
                    throw new IllegalArgumentException("bounds: found " + ascending[i] + " behind " + ascending[i - 1]
                            + ", expected more");
                }
            }
            this.bounds = IntStream.range(0, ascending.length).mapToObj(i -> ascending[i]).toList();
            return this;
        }

        /**
         * Sets how many rows are asked for at once. Default 2000.
         *
         * @param rows at least 1
         * @return this
         */
        public Builder pageRows(int rows) {
            if (rows < 1) {
                throw new IllegalArgumentException("pages of " + rows + " rows, expected 1 or more");
            }
            this.pageRows = rows;
            return this;
        }

        /**
         * Sets how the database limits a result. Default {@link Paging#LIMIT}.
         *
         * @param clause the way
         * @return this
         */
        public Builder paging(Paging clause) {
            this.paging = Objects.requireNonNull(clause, "clause");
            return this;
        }

        /**
         * Waits for more rows where the table ends. Default: the stream ends there. Where a connection is in a
         * transaction, that is ended before each wait: at some levels of isolation it would see no new rows.
         *
         * @return this
         */
        public Builder growing() {
            this.grows = true;
            return this;
        }

        /**
         * Checks the key: that it is unique and not null, and that the database finds some of its values again.
         *
         * @return the source
         * @throws IOException if the database cannot be asked, or has no such table and columns
         * @throws IllegalArgumentException if no column was named, or the key is not unique, may be null, or has values
         *     that change on their way from the database and back
         */
        public JdbcSource open() throws IOException {
            if (columns.isEmpty()) {
                throw new IllegalArgumentException(table + ": no column was named, expected at least one");
            }
            try (Connection connection = database.open()) {
                KeyFormat typed = KeyColumns.of(connection, this);
                return new JdbcSource(new Builder(this), KeyProof.choose(connection, this, typed));
            } catch (SQLException e) {
                throw new IOException(table + ": " + e.getMessage(), e);
            }
        }

        /**
         * A query for rows in the order of the key.
         *
         * @param format that of the key, whose columns are the first of a row
         * @param selected the columns behind them
         * @param comparison {@code >} or {@code <} for rows behind or before a key, whose values are the parameters;
         *     empty for all
         */
        String query(KeyFormat format, List<String> selected, List<String> conditions, String comparison,
                boolean isDescending, long rows) {
            List<String> all = new ArrayList<>(conditions);
            if (!comparison.isEmpty()) {
                all.add(format.compared(comparison));
            }
            return "select " + Stream.concat(Stream.of(format.selected()), selected.stream())
                    .collect(Collectors.joining(", ")) + " from " + table
                    + (all.isEmpty() ? "" : " where " + String.join(" and ", all)) + " order by "
                    + (isDescending ? String.join(" desc, ", key) + " desc" : String.join(", ", key))
                    + paging.clause(rows);
        }
    }
}
