// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.json.Json;
import io.penstock.store.Fixtures;
import io.penstock.store.Fixtures.Entry;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Arrow's own library wrote these files, and read in them what the manifest says. */
class ArrowFixturesTest {

    @TestFactory
    Stream<DynamicTest> whatArrowReadsIsReadTheSame() throws IOException {
        return Fixtures.entries("arrow").filter(entry -> !entry.expect().equals("reject"))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> assertReadsAs(entry)));
    }

    private static void assertReadsAs(Entry entry) throws IOException {
        Map<String, Object> found =
                Json.object(Json.parse(Json.write(Inspection.of(entry.path(), Depth.CONTENT).toMap())));
        for (String name : List.of("kind", "container", "batch_rows")) {
            if (entry.fields().containsKey(name)) {
                assertEquals(entry.fields().get(name), found.get(name), name);
            }
        }
        if (entry.fields().containsKey("shards")) {
            List<Object> expected = Json.array(entry.fields().get("shards"));
            List<Object> shards = Json.array(found.get("shards"));
            assertEquals(expected.size(), shards.size());
            for (int i = 0; i < shards.size(); i++) {
                Map<String, Object> shard = Json.object(shards.get(i));
                assertEquals(Json.object(expected.get(i)).get("rows"), shard.get("rows"));
                assertTrue(shard.get("path").toString().endsWith(Json.object(expected.get(i)).get("path").toString()));
            }
        }
        Map<String, Object> expected = Json.object(entry.fields().get("table"));
        Json.array(expected.get("columns")).forEach(column -> Json.object(column).remove("spots"));
        assertEquals(expected, found.get("table"));
    }

    @TestFactory
    Stream<DynamicTest> whatIsMalformedIsRefusedInOneLineThatNamesTheFile() throws IOException {
        Map<String, String> words = Map.of("arrow/reject_truncated_file.arrow", "no ARROW1 at the file's end",
                "arrow/reject_truncated_stream.arrow", "ends inside a message",
                "arrow/reject_bad_magic.arrow", "a message with");
        return Fixtures.entries("arrow").filter(entry -> entry.expect().equals("reject"))
                .map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> {
                    String message = assertThrows(MalformedStoreException.class,
                            () -> Inspection.of(entry.path(), Depth.CONTENT)).getMessage();
                    assertTrue(message.contains(entry.path().getFileName().toString()), message);
                    assertTrue(message.contains(words.get(entry.toString())), message);
                    assertFalse(message.contains("\n"), message);
                }));
    }
}
