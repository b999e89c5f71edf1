// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/**
 * Holds tasks at one document: each writes a file with the number of its process and waits for the file {@code open}.
 * Without end if {@code forever}: Spark kills it.
 */
record Gate(String folder, long id, boolean forever) implements UDF1<Long, Long> {

    private static final long DEADLINE_MILLIS = 600_000;

    static Gate at(Path folder, long id) {
        return new Gate(folder.toString(), id, false);
    }

    Dataset<Row> before(Dataset<Row> rows) {
        Column passed = functions.udf(this, DataTypes.LongType).asNondeterministic().apply(functions.col("id"));
        return rows.filter(passed.geq(0));
    }

    @Override
    public Long call(Long document) throws Exception {
        if (document == id) {
            Path waits = Files.writeString(Files.createTempFile(Path.of(folder), "waits", ".tmp"),
                    Long.toString(ProcessHandle.current().pid()));
            boolean isFirst = waiting(Path.of(folder)).isEmpty();
            Files.move(waits, waits.resolveSibling(waits.getFileName() + ".pid"));
            if (!forever || isFirst) {
                await(() -> Files.exists(Path.of(folder, "open")));
            }
        }
        return document;
    }

    void open() throws IOException {
        Files.createFile(Path.of(folder, "open"));
    }

    /** Waits for a task at the gate; returns the number of its process. */
    long awaitTask() throws Exception {
        await(() -> !waiting(Path.of(folder)).isEmpty());
        return Long.parseLong(Files.readString(waiting(Path.of(folder)).getFirst()));
    }

    /** Waits until the processes that wait at the gate are no more. */
    void awaitDeath() throws Exception {
        for (Path file : waiting(Path.of(folder))) {
            long process = Long.parseLong(Files.readString(file));
            await(() -> ProcessHandle.of(process).isEmpty());
        }
    }

    private static List<Path> waiting(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".pid")).sorted().toList();
        }
    }

    /** Returns how many parts of a store are finished. */
    static long finishedParts(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".part.json")).count();
        }
    }

    /** A state to wait for. */
    @FunctionalInterface
    interface State {
        boolean isReached() throws IOException;
    }

    static void await(State state) throws IOException, InterruptedException {
        for (long waited = 0; !state.isReached(); waited += 20) {
            if (waited > DEADLINE_MILLIS) {
                throw new IllegalStateException("waited for " + DEADLINE_MILLIS + " ms");
            }
            Thread.sleep(20);
        }
    }
}
