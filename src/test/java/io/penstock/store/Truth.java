// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.json.Json;
import io.penstock.store.Inspection.Depth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** What another library read in a store, against what {@code inspect} says of it. */
public final class Truth {

    /** What of an entry is not about the content, and places in it that are looked at apart. */
    private static final Set<String> LEFT_OUT =
            Set.of("id", "path", "writer", "expect", "subdir", "note", "reference", "reason", "spots");

    private Truth() {
    }

    /** Holds everything that an entry says against the inspection with digests. */
    public static void assertReadAs(Map<String, Object> expected, Path path) throws IOException {
        Object found = Json.parse(Json.write(Inspection.of(path, Depth.CONTENT).toMap()));
        assertContains(expected, found, path.getFileName().toString());
    }

    private static void assertContains(Object expected, Object found, String where) {
        if (expected instanceof Map<?, ?> fields) {
            fields.forEach((name, value) -> {
                if (!LEFT_OUT.contains(name)) {
                    assertContains(value, Json.object(found).get(name), where + "." + name);
                }
            });
        } else if (expected instanceof List<?> items) {
            List<Object> others = Json.array(found);
            assertEquals(items.size(), others.size(), where);
            for (int i = 0; i < items.size(); i++) {
                assertContains(items.get(i), others.get(i), where + "[" + i + "]");
            }
        } else {
            assertEquals(expected, found, where);
        }
    }

    /** Holds that a store is refused, in one line that names its file. */
    public static String assertRefused(Path path) {
        String message =
                assertThrows(MalformedStoreException.class, () -> Inspection.of(path, Depth.CONTENT)).getMessage();
        assertTrue(message.contains(path.getFileName().toString()), message);
        assertFalse(message.contains("\n"), message);
        return message;
    }

    /** A file or folder that a script in the test resources has written. */
    public static Path written(String name) {
        return Fixtures.resource("written/" + name);
    }

    /** What is in the stores that a script has written. */
    public static Stream<Map<String, Object>> entries(String kind) throws IOException {
        Object truths = Json.parse(Files.readAllBytes(written(kind).resolve("truth.json")));
        return Json.array(truths).stream().map(Json::object);
    }
}
