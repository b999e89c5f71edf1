// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.Store;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Files of every type and kind that Arrow's own library writes ({@code make_fixtures.py}), read as it reads them. */
class ArrowPeerTest {

    static Path folder() {
        try {
            return Path.of(ArrowPeerTest.class.getResource("/arrow/truth.json").toURI()).getParent();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @TestFactory
    Stream<DynamicTest> whatArrowReadsIsReadTheSame() throws IOException {
        return Json.object(Json.parse(Files.readAllBytes(folder().resolve("truth.json")))).entrySet().stream()
                .map(entry -> DynamicTest.dynamicTest(entry.getKey(),
                        () -> assertReadsAs(entry.getKey(), Json.object(entry.getValue()))));
    }

    private static void assertReadsAs(String name, Map<String, Object> truth) throws IOException {
        Map<String, Object> found;
        boolean split = name.startsWith("splits/");
        Path path = folder().resolve(split ? "splits" : name);
        try (Store store = Store.open(path, split ? OpenOptions.DEFAULT.withMember(name.substring(7))
                : OpenOptions.DEFAULT)) {
            found = Json.object(Json.parse(Json.write(Inspection.of(Location.of(path), store, Depth.CONTENT,
                    Progress.NONE).toMap())));
        }
        assertEquals(truth.get("container"), found.get("container"));
        Map<String, Object> table = Json.object(found.get("table"));
        List<Object> columns = Json.array(truth.get("columns"));
        List<Object> read = Json.array(table.get("columns"));
        for (int c = 0; c < Math.min(columns.size(), read.size()); c++) {
            assertEquals(columns.get(c), read.get(c));
        }
        assertEquals(columns.size(), read.size());
        assertEquals(truth.get("rows"), table.get("rows"));
        if (truth.containsKey("schema")) {
            assertEquals(truth.get("schema"), table.get("schema"));
        }
        List<Object> unsupported = Json.array(table.getOrDefault("unsupported", List.of())).stream()
                .map(column -> Json.object(column).get("name")).toList();
        assertEquals(Set.copyOf(Json.array(truth.get("unsupported"))), Set.copyOf(unsupported));
    }
}
