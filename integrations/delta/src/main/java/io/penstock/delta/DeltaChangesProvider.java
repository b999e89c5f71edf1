// SPDX-License-Identifier: Apache-2.0
package io.penstock.delta;

import io.penstock.io.Location;
import io.penstock.lake.ChangeSource;
import io.penstock.stream.StreamSource;
import io.penstock.stream.StreamSource.StreamEnd;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;

/**
 * Opens the changes of a Delta table by name: {@code delta:FOLDER}, with {@code #from=VERSION} those after a version,
 * and with {@code changes=skip} without versions that deleted or replaced rows and have no change feed.
 */
public final class DeltaChangesProvider implements StreamSource.SourceProvider {

    /** For {@link java.util.ServiceLoader}. */
    public DeltaChangesProvider() {
    }

    @Override
    public String scheme() {
        return "delta";
    }

    @Override
    public StreamSource open(String location, Map<String, String> settings, StreamEnd end) throws IOException {
        String folder = location.substring("delta:".length());
        for (String key : settings.keySet()) {
            if (!key.equals("from") && !key.equals("changes")) {
                throw new IllegalArgumentException(location + ": found setting '" + key
                        + "', expected from=VERSION or changes=skip");
            }
        }
        return new ChangeSource(DeltaTable.of(folder.matches("[a-z0-9]+://.*") ? Location.of(URI.create(folder))
                : Location.of(Path.of(folder))), settings.getOrDefault("from", ""), end,
                !"skip".equals(settings.get("changes")));
    }
}
