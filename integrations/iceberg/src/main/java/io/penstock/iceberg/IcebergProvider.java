// SPDX-License-Identifier: Apache-2.0
package io.penstock.iceberg;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Iceberg tables: a folder with {@code metadata/*.metadata.json}, or a file {@code NAME.iceberg} that names a table of
 * a REST catalog: {@code {"uri": "http://catalog:8181", "table": "shop.clicks"}}, with the catalog's further
 * properties.
 * The member is the version, by default the newest.
 */
public final class IcebergProvider implements StoreProvider {

    private static final String ENDING = ".iceberg";

    /** For {@link java.util.ServiceLoader}. */
    public IcebergProvider() {
    }

    @Override
    public String name() {
        return "iceberg";
    }

    @Override
    public boolean hasMembers() {
        return true;
    }

    @Override
    public boolean matchesContent(Candidate candidate) throws IOException {
        return candidate.isFolder() && IcebergTable.metadata(candidate.path()).isPresent();
    }

    @Override
    public boolean matchesName(Candidate candidate) {
        return candidate.isFile() && candidate.nameEndsWith(ENDING);
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        String version = options.member();
        return table(path).open(version == null ? "" : version);
    }

    static IcebergTable table(Location path) throws IOException {
        if (!path.name().endsWith(ENDING) || path.isFolder()) {
            return IcebergTable.of(path);
        }
        Map<String, String> properties = new HashMap<>();
        try {
            Map<String, @Nullable Object> members = Json.object(Json.parse(path.readAllBytes()));
            members.forEach((name, value) -> properties.put(name, String.valueOf(value)));
        } catch (JsonException e) {
            throw new MalformedStoreException(path, e);
        }
        String table = properties.remove("table");
        if (table == null || !properties.containsKey("uri")) {
            throw new MalformedStoreException(path, "the members " + properties.keySet() + (table == null ? "" : " and"
                    + " table"), "uri and table");
        }
        return IcebergTable.rest(properties, table);
    }
}
