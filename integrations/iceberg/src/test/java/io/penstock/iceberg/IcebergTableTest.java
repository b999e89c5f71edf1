// SPDX-License-Identifier: Apache-2.0
package io.penstock.iceberg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.lake.Answers;
import io.penstock.lake.LakeCommands;
import io.penstock.lake.LakeStore;
import io.penstock.lake.TableSnapshot.Change;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.stream.StreamSource;
import io.penstock.stream.StreamSource.StreamEnd;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables that Spark wrote elsewhere, with what it read from each version. */
class IcebergTableTest {

    @TempDir
    private static Path folder;

    private static Path tables;

    @BeforeAll
    static void unpack() throws IOException {
        tables = Answers.unpack(IcebergTableTest.class, folder).resolve("iceberg/db");
    }

    private static IcebergTable table(String name) throws IOException {
        return IcebergTable.of(Location.of(tables.resolve(name)));
    }

    /** Returns the ids of the snapshots in their order. */
    private static List<String> snapshots(String name) throws IOException {
        List<String> ids = new ArrayList<>();
        Map<String, Object> metadata = Json.object(Json.parse(Files.readAllBytes(Path.of(IcebergTable.metadata(
                Location.of(tables.resolve(name))).orElseThrow().toString()))));
        for (Object snapshot : Json.array(metadata.get("snapshots"))) {
            ids.add(Json.object(snapshot).get("snapshot-id").toString());
        }
        return ids;
    }

    @Test
    void everyVersionHasTheRowsThatSparkReads() throws IOException {
        List<Path> answers = Answers.of(folder);
        assertEquals(10, answers.size());
        for (Path answer : answers) {
            String[] name = answer.getFileName().toString().replace(".jsonl", "").split("-");
            try (LakeStore rows = table(name[0]).open(name[1])) {
                Answers.check(answer, rows);
            }
        }
    }

    @Test
    void theCommandLineReadsAVersion() throws Exception {
        LakeCommands.check(tables.resolve("events"), "iceberg", snapshots("events").getLast(), 67, folder);
    }

    @Test
    void aTagAndTheNewestVersionAreFound() throws IOException {
        try (LakeStore tagged = table("events").open("tag:two_inserts");
                Store newest = Store.open(tables.resolve("events"));
                Store first = Store.open(tables.resolve("events"), OpenOptions.DEFAULT.withMember(
                        snapshots("events").getFirst()))) {
            assertEquals(60, tagged.size());
            assertEquals(67, assertInstanceOf(LakeStore.class, newest).size());
            assertEquals(40, assertInstanceOf(LakeStore.class, first).size());
        }
        assertTrue(assertThrows(IllegalArgumentException.class, () -> table("events").open("tag:none")).getMessage()
                .contains("found no version 'tag:none', expected one of the snapshots ["));
    }

    @Test
    void rowsKeepTheirIndicesWhileRowsAreAppendedAndACompactionIsRecognized() throws IOException {
        for (String name : List.of("events", "vectors")) {
            IcebergTable events = table(name);
            List<String> ids = snapshots(name);
            try (LakeStore before = events.open(ids.get(0)); LakeStore after = events.open(ids.get(1))) {
                assertEquals(Change.APPENDED, after.snapshot().since(before.snapshot()));
                assertEquals(Answers.ids(before), Answers.ids(after).subList(0, 40));
            }
            assertEquals(Change.CHANGED, events.at(ids.get(2)).since(events.at(ids.get(1))));
            String compacted = ids.getLast();
            String before = ids.get(ids.size() - 2);
            assertEquals(Change.REWRITTEN, events.at(compacted).since(events.at(before)));
            assertTrue(events.keepsRows(before, compacted));
            assertTrue(!events.keepsRows(ids.get(1), compacted));
        }
    }

    @Test
    void aConditionFindsTheRowsThatHold() throws IOException {
        try (LakeStore rows = table("vectors").open("")) {
            List<Map<String, Object>> all = Answers.rows(rows);
            long[] expected = LongStream.range(0, rows.size())
                    .filter(row -> "fr".equals(all.get((int) row).get("country"))
                            && all.get((int) row).containsKey("price")).toArray();
            assertTrue(expected.length > 5);
            assertArrayEquals(expected, rows.rowsWhere("country = 'fr' and price is not null"));
        }
    }

    @Test
    void aStreamGivesAppendedRowsAndResumesExactly() throws IOException {
        StreamSource changes = StreamSource.open("iceberg:" + tables.resolve("events") + "#changes=skip",
                StreamEnd.STOP);
        var all = Answers.read(changes, "");
        assertEquals(70, all.size());
        assertEquals(LongStream.range(0, 60).boxed().toList(), all.subList(0, 60).stream()
                .map(row -> row.getValue().get("id")).sorted().toList());
        for (int i = 0; i < all.size(); i += 23) {
            assertEquals(all.subList(i + 1, all.size()), Answers.read(changes, all.get(i).getKey()));
        }
        StreamSource strict = StreamSource.open("iceberg:" + tables.resolve("events"), StreamEnd.STOP);
        assertTrue(assertThrows(IOException.class, () -> Answers.read(strict, "")).getMessage()
                .contains("which deleted or replaced rows, expected one that only adds rows"));
    }

    /** The catalog is a web server that answers as Iceberg's specification of REST catalogs says. */
    @Test
    void aTableOfARestCatalogIsRead() throws IOException {
        String metadata = Files.readString(Path.of(IcebergTable.metadata(Location.of(tables.resolve("vectors")))
                .orElseThrow().toString()));
        // The table where it is now: the manifests name the place where it was written.
        String old = Json.object(Json.parse(metadata)).get("location").toString();
        List<String> asked = new ArrayList<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            asked.add(path);
            byte[] answer = (path.equals("/v1/config") ? "{\"defaults\":{},\"overrides\":{}}"
                    : path.equals("/v1/namespaces/db/tables/vectors") ? "{\"metadata-location\":\"" + old
                    + "/metadata/v1.metadata.json\",\"metadata\":" + metadata + ",\"config\":{}}"
                    : "{\"error\":{\"message\":\"no such table\",\"type\":\"NoSuchTableException\",\"code\":404}}")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(asked.getLast().contains("vectors") || path.endsWith("config") ? 200 : 404,
                    answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        try {
            String uri = "http://127.0.0.1:" + server.getAddress().getPort();
            Path named = Files.writeString(folder.resolve("vectors.iceberg"), Json.write(Map.of("uri", uri, "table",
                    "db.vectors", "io-impl", MovedFiles.class.getName(), "old", old, "new",
                    tables.resolve("vectors").toString())));
            try (LakeStore rows = assertInstanceOf(LakeStore.class, Store.open(named))) {
                assertEquals(67, rows.size());
                assertTrue(asked.contains("/v1/namespaces/db/tables/vectors"));
            }
            assertTrue(assertThrows(IOException.class, () -> IcebergTable.rest(Map.of("uri", uri), "db.none"))
                    .getMessage().contains("table 'db.none': "));
        } finally {
            server.stop(0);
        }
    }
}
