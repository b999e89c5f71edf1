// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Assumptions;

/** The databases of the tests, each started when the first test asks for it, and stopped when the JVM ends. */
final class Databases {

    static final List<String> ALL = List.of("H2", "SQLite", "DuckDB", "PostgreSQL", "MariaDB");

    private static final Map<String, Callable<Optional<String>>> URLS = new HashMap<>();

    /** Keeps a database in memory, which the last connection would close. */
    private static final List<Connection> OPEN = new ArrayList<>();

    private Databases() {
    }

    /** The URL of a database; the test is skipped if it is a server that the system lacks. */
    static synchronized String url(String name) throws Exception {
        Optional<String> url = URLS.computeIfAbsent(name, Databases::start).call();
        Assumptions.assumeTrue(url.isPresent(), name + " is not installed here");
        return url.get();
    }

    /** Connections to it. */
    static JdbcSource.Connections of(String name) throws Exception {
        String url = url(name);
        return () -> DriverManager.getConnection(url);
    }

    static void run(JdbcSource.Connections database, String... statements) throws SQLException {
        try (Connection connection = database.open(); Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    private static Callable<Optional<String>> start(String name) {
        try {
            Optional<String> url = switch (name) {
                case "H2" -> Optional.of("jdbc:h2:mem:keys;DB_CLOSE_DELAY=-1");
                case "SQLite" -> Optional.of("jdbc:sqlite:" + file("keys.db"));
                case "DuckDB" -> {
                    String duck = "jdbc:duckdb:" + file("keys.duckdb");
                    OPEN.add(DriverManager.getConnection(duck));
                    yield Optional.of(duck);
                }
                case "PostgreSQL" -> Postgres.start().map(server -> stopped(server, server.url()));
                case "MariaDB" -> MariaDb.start().map(server -> stopped(server, server.url()));
                default -> throw new IllegalArgumentException(name);
            };
            return () -> url;
        } catch (Exception e) {
            return () -> {
                throw new IllegalStateException(name + " does not start: " + e.getMessage(), e);
            };
        }
    }

    private static Path file(String name) throws Exception {
        Path folder = Files.createTempDirectory("penstock-jdbc");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                new ProcessBuilder("rm", "-rf", folder.toString()).start().waitFor();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }));
        return folder.resolve(name);
    }

    private static String stopped(AutoCloseable server, String url) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                server.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }));
        return url;
    }
}
