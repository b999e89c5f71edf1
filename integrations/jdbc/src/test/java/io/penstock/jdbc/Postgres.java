// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A PostgreSQL server of the system, on a loopback port; started as user postgres if this is root. */
final class Postgres implements AutoCloseable {

    private final Path programs;
    private final Path folder;
    private int port;

    private Postgres(Path programs, Path folder) {
        this.programs = programs;
        this.folder = folder;
    }

    /** Starts one, if the system has it. */
    static Optional<Postgres> start() throws IOException, InterruptedException {
        Optional<Path> programs = Stream.concat(Stream.of(System.getenv("PATH").split(":")).map(Path::of), installed())
                .filter(path -> Files.isExecutable(path.resolve("initdb"))
                        && Files.isExecutable(path.resolve("pg_ctl")))
                .findFirst();
        if (programs.isEmpty()) {
            return Optional.empty();
        }
        Path folder = Files.createTempDirectory("penstock-postgres");
        var server = new Postgres(programs.get(), folder);
        if (isRoot() && run(folder, List.of("chown", "postgres", folder.toString())) != 0) {
            return Optional.empty();
        }
        if (!server.run("initdb", "-D", folder.resolve("data").toString(), "-A", "trust", "-U", "penstock")
                || !server.listen()) {
            throw new IOException("PostgreSQL does not start: " + server.folder.resolve("server.log"));
        }
        return Optional.of(server);
    }

    /** Starts it; another process may take the port before. */
    private boolean listen() throws IOException, InterruptedException {
        for (int attempt = 0; attempt < 3; attempt++) {
            port = freePort();
            if (run("pg_ctl", "-D", folder.resolve("data").toString(), "-w", "-l",
                    folder.resolve("server.log").toString(), "-o", "-p " + port + " -k " + folder + " -h localhost",
                    "start")) {
                return true;
            }
        }
        return false;
    }

    static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static Stream<Path> installed() throws IOException {
        Path versions = Path.of("/usr/lib/postgresql");
        return Files.isDirectory(versions) ? Files.list(versions).map(version -> version.resolve("bin")) : Stream.of();
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private boolean run(String program, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        if (isRoot()) {
            command.addAll(List.of("setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"));
        }
        command.add(programs.resolve(program).toString());
        command.addAll(List.of(arguments));
        return run(folder, command) == 0;
    }

    private static int run(Path folder, List<String> command) throws IOException, InterruptedException {
        return new ProcessBuilder(command).directory(folder.toFile())
                .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
    }

    String url() {
        return "jdbc:postgresql://localhost:" + port + "/postgres?user=penstock";
    }

    DataSource database() {
        var source = new PGSimpleDataSource();
        source.setServerNames(new String[] {"localhost"});
        source.setPortNumbers(new int[] {port});
        source.setUser("penstock");
        source.setDatabaseName("postgres");
        return source;
    }

    @Override
    public void close() throws IOException {
        try {
            run("pg_ctl", "-D", folder.resolve("data").toString(), "-m", "immediate", "-w", "stop");
            run(folder.getParent(), List.of("rm", "-rf", folder.toString()));
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while the server stops", e);
        }
    }
}
