// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A MariaDB server of the system, on a loopback port. */
final class MariaDb implements AutoCloseable {

    private final Path folder;
    private final Process server;
    private final int port;

    private MariaDb(Path folder, Process server, int port) {
        this.folder = folder;
        this.server = server;
        this.port = port;
    }

    /** Starts one, if the system has it. */
    static Optional<MariaDb> start() throws IOException, InterruptedException {
        Optional<Path> program = Stream.concat(Stream.of(System.getenv("PATH").split(":")),
                Stream.of("/usr/sbin", "/usr/libexec", "/usr/local/sbin")).map(path -> Path.of(path, "mariadbd"))
                .filter(Files::isExecutable).findFirst();
        if (program.isEmpty()) {
            return Optional.empty();
        }
        String user = "--user=" + System.getProperty("user.name");
        Path folder = Files.createTempDirectory("penstock-mariadb");
        String data = "--datadir=" + folder.resolve("data");
        Path log = folder.resolve("server.log");
        int installed = new ProcessBuilder("mariadb-install-db", "--no-defaults", data, user,
                "--auth-root-authentication-method=normal", "--skip-test-db").redirectErrorStream(true)
                        .redirectOutput(log.toFile()).start().waitFor();
        if (installed != 0) {
            throw new IOException(Files.readString(log));
        }
        Path begin = folder.resolve("begin.sql");
        Files.write(begin, List.of("create database penstock;", "create user penstock@localhost;",
                "grant all on penstock.* to penstock@localhost;"));
        int port = Postgres.freePort();
        Process server = new ProcessBuilder(program.get().toString(), "--no-defaults", user, data,
                "--socket=" + folder.resolve("socket"), "--port=" + port, "--bind-address=127.0.0.1",
                "--init-file=" + begin).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        var started = new MariaDb(folder, server, port);
        started.awaitConnections(log);
        return Optional.of(started);
    }

    private void awaitConnections(Path log) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
        while (true) {
            try {
                DriverManager.getConnection(url()).close();
                return;
            } catch (SQLException e) {
                // Waiting for its end is waiting for the next try.
                boolean isStarting = String.valueOf(e.getSQLState()).startsWith("08");
                if (!isStarting || server.waitFor(100, TimeUnit.MILLISECONDS) || System.nanoTime() > end) {
                    server.destroyForcibly();
                    throw new IOException(e.getMessage() + "\n" + Files.readString(log), e);
                }
            }
        }
    }

    String url() {
        return "jdbc:mariadb://127.0.0.1:" + port + "/penstock?user=penstock";
    }

    @Override
    public void close() throws IOException {
        try {
            server.destroyForcibly().waitFor();
            new ProcessBuilder(List.of("rm", "-rf", folder.toString())).start().waitFor();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while the server stops", e);
        }
    }
}
