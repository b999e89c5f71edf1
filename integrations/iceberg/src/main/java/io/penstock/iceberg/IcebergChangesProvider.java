// SPDX-License-Identifier: Apache-2.0
package io.penstock.iceberg;

import io.penstock.io.Location;
import io.penstock.lake.ChangeSource;
import io.penstock.stream.StreamSource;
import io.penstock.stream.StreamSource.StreamEnd;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;

/**
 * Opens the rows that were appended to an Iceberg table by name: {@code iceberg:FOLDER} or
 * {@code iceberg:NAME.iceberg}, with {@code #from=SNAPSHOT} those after a snapshot, and with {@code changes=skip}
 * without snapshots that deleted or replaced rows.
 */
public final class IcebergChangesProvider implements StreamSource.SourceProvider {

    /** For {@link java.util.ServiceLoader}. */
    public IcebergChangesProvider() {
    }

    @Override
    public String scheme() {
        return "iceberg";
    }

    @Override
    public StreamSource open(String location, Map<String, String> settings, StreamEnd end) throws IOException {
        String place = location.substring("iceberg:".length());
        for (String key : settings.keySet()) {
            if (!key.equals("from") && !key.equals("changes")) {
                throw new IllegalArgumentException(location + ": found setting '" + key
                        + "', expected from=SNAPSHOT or changes=skip");
            }
        }
        return new ChangeSource(IcebergProvider.table(place.matches("[a-z0-9]+://.*") ? Location.of(URI.create(place))
                : Location.of(Path.of(place))), settings.getOrDefault("from", ""), end,
                !"skip".equals(settings.get("changes")));
    }
}
