// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.penstock.store.IfExists;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Stores that a master and two workers make, each a process, while tasks hang, workers die and drivers die. */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class ClusterTest {

    @TempDir
    private static Path home;
    private static Cluster cluster;

    @TempDir
    private Path folder;
    private Path expected;
    private Path gates;
    private SparkSession spark;

    @BeforeAll
    static void start() throws Exception {
        cluster = new Cluster(home);
        cluster.startWorker("127.0.0.1");
        cluster.startWorker("127.0.0.2");
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @BeforeEach
    void begin() throws Exception {
        gates = Files.createDirectory(folder.resolve("gates"));
        expected = folder.resolve("expected");
        spark = Cluster.session(cluster.master(), Map.of());
        Documents.commandLine(Documents.lines(spark, Documents.inOrder(spark), folder.resolve("all.jsonl")), expected)
                .run();
    }

    @AfterEach
    void end() {
        if (spark != null) {
            spark.stop();
        }
    }

    private SparkTokenizeJob job(Dataset<Row> rows) {
        return new SparkTokenizeJob(rows, "text", Documents.GPT2, folder.resolve("tokens").toString());
    }

    private Path assertStoreIsThatOfTheCommandLine() throws Exception {
        Path manifest = folder.resolve("tokens.manifest.json");
        assertArrayEquals(Files.readAllBytes(Path.of(expected + ".bin")), Documents.tokens(manifest));
        assertEquals(Documents.documentStarts(expected), Documents.documentStarts(manifest));
        return manifest;
    }

    @Test
    void aTaskThatHangsIsOvertakenByItsSpeculativeCopy() throws Exception {
        spark.stop();
        spark = Cluster.session(cluster.master(), Map.of("spark.speculation", "true",
                "spark.speculation.interval", "100ms", "spark.speculation.multiplier", "1.1",
                "spark.speculation.quantile", "0.1", "spark.speculation.minTaskRuntime", "1s"));
        Gate hangs = new Gate(gates.toString(), 7, true);
        job(hangs.before(Documents.inOrder(spark))).run();
        assertFalse(Files.exists(gates.resolve("open")));
        assertStoreIsThatOfTheCommandLine();
    }

    /** Where no row moves, in the middle of a part; in a shuffle, with what the others are to read. */
    @ParameterizedTest
    @EnumSource(Order.class)
    void aWorkerThatIsKilledChangesNothing(Order order) throws Exception {
        Gate gate = Gate.at(gates, 250);
        Dataset<Row> rows = gate.before(Documents.inOrder(spark));
        SparkTokenizeJob job = job(rows).order(order.made);
        CompletableFuture<SparkTokenizeSummary> running = CompletableFuture.supplyAsync(() -> {
            try {
                return job.run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        cluster.killWorkerOf(gate.awaitTask());
        gate.open();
        assertEquals(4, running.get().manifest().parts().size());
        assertEquals(List.of(), Documents.surplus(folder.resolve("tokens.manifest.json")));
        if (order == Order.AS_GIVEN) {
            assertStoreIsThatOfTheCommandLine();
            return;
        }
        List<String> digests = Documents.digests(folder.resolve("tokens.manifest.json"));
        job(Documents.mixed(spark, 3)).order(order.made).ifExists(IfExists.REPLACE).run();
        assertEquals(digests, Documents.digests(folder.resolve("tokens.manifest.json")));
    }

    enum Order {
        AS_GIVEN(RowOrder.asGiven()),
        SHUFFLED(RowOrder.shuffled(3, 4));

        private final RowOrder made;

        Order(RowOrder made) {
            this.made = made;
        }
    }

    @Test
    void aDriverThatIsKilledAndRunAgainGoesOn() throws Exception {
        spark.stop();
        Path output = folder.resolve("tokens");
        Process killed = cluster.start("127.0.0.1", List.of("-Xmx512m"), KilledDriver.class.getName(),
                cluster.master(), gates.toString(), output.toString());
        Gate gate = Gate.at(gates, Documents.COUNT - 1);
        Path parts = folder.resolve("tokens.parts");
        gate.awaitTask();
        Gate.await(() -> Gate.finishedParts(parts) == 3);
        killed.destroyForcibly().waitFor();
        gate.awaitDeath();
        assertFalse(Files.exists(folder.resolve("tokens.manifest.json")));
        gate.open();
        spark = Cluster.session(cluster.master(), Map.of());
        assertEquals(3, KilledDriver.job(spark, gate, output).run().resumedParts());
        assertStoreIsThatOfTheCommandLine();
    }
}
