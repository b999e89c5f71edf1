// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.PartitionReader.Found;
import io.penstock.stream.RecordBuffer;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * How fast a table is read by its key, beside a cursor in a transaction, whose texts are read as the driver has them
 * and as strings, by turns in one run: rows of 1 KiB in PostgreSQL.
 *
 * <p>Arguments: rows (default 300,000), rounds (default 8).
 */
public final class JdbcRate {

    private static final int PAGE_ROWS = 2000;

    private JdbcRate() {
    }

    /**
     * Runs it.
     *
     * @param args rows, rounds
     */
    public static void main(String[] args) throws Exception {
        int rows = args.length > 0 ? Integer.parseInt(args[0]) : 300_000;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 8;
        try (Postgres server = Postgres.start().orElseThrow(() -> new IllegalStateException("no PostgreSQL here"))) {
            DataSource database = server.database();
            try (Connection connection = database.getConnection(); Statement make = connection.createStatement()) {
                make.execute("create table texts (id bigint primary key, body text)");
                make.execute("insert into texts select n, repeat(md5(n::text), 32) from generate_series(1, " + rows
                        + ") n");
                make.execute("analyze texts");
            }
            System.out.println("| reader | rows/s | CPU µs/row |\n|---|--:|--:|");
            for (int round = 0; round < rounds; round++) {
                print("cursor in a transaction, bytes", rows, () -> cursor(database, false));
                print("cursor in a transaction, texts", rows, () -> cursor(database, true));
                print("Penstock, by key", rows, () -> byKey(database));
            }
        }
    }

    /** Reads everything; returns the rows. */
    private interface Reader {

        long read() throws Exception;
    }

    private static void print(String name, int rows, Reader reader) throws Exception {
        var process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long cpu = process.getProcessCpuTime();
        long begin = System.nanoTime();
        long read = reader.read();
        double seconds = (System.nanoTime() - begin) / 1e9;
        if (read != rows) {
            throw new IllegalStateException(name + ": found " + read + " rows, expected " + rows);
        }
        System.out.printf("| %s | %,.0f | %.2f |%n", name, read / seconds,
                (process.getProcessCpuTime() - cpu) / 1e3 / read);
    }

    private static long cursor(DataSource database, boolean isText) throws SQLException {
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement(); RecordBuffer into = new RecordBuffer()) {
                statement.setFetchSize(PAGE_ROWS);
                long read = 0;
                try (ResultSet rows = statement.executeQuery("select id, body from texts order by id")) {
                    while (rows.next()) {
                        byte[] body = isText ? rows.getString(2).getBytes(StandardCharsets.UTF_8) : rows.getBytes(2);
                        into.clear();
                        into.add(body, 0, body.length);
                        read++;
                    }
                }
                return read;
            }
        }
    }

    private static long byKey(DataSource database) throws Exception {
        var source = JdbcSource.builder(database, "texts", "id").columns("body").pageRows(PAGE_ROWS).open();
        try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            long read = 0;
            while (reader.poll(into) == Found.RECORD) {
                into.clear();
                read++;
            }
            return read;
        }
    }
}
