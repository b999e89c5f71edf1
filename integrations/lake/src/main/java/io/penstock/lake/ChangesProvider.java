// SPDX-License-Identifier: Apache-2.0
package io.penstock.lake;

import io.penstock.io.Location;
import io.penstock.stream.StreamSource;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;

/**
 * Opens the changes of a table by name: {@code SCHEME:PLACE}, with {@code #from=VERSION} those after a version, and
 * with {@code changes=skip} without versions that deleted or replaced rows of which no feed tells.
 */
public abstract class ChangesProvider implements StreamSource.SourceProvider {

    private final String scheme;
    private final String version;

    /**
     * For a format.
     *
     * @param scheme the name of the format
     * @param version what an error calls a version of a table
     */
    protected ChangesProvider(String scheme, String version) {
        this.scheme = scheme;
        this.version = version;
    }

    /**
     * Opens a table.
     *
     * @param place where it is
     * @return the table
     * @throws IOException if it is no table, or cannot be read
     */
    protected abstract LakeTable table(Location place) throws IOException;

    @Override
    public final String scheme() {
        return scheme;
    }

    @Override
    public final StreamSource open(String location, Map<String, String> settings, StreamSource.StreamEnd end)
            throws IOException {
        for (String key : settings.keySet()) {
            if (!key.equals("from") && !key.equals("changes")) {
                throw new IllegalArgumentException(location + ": found setting '" + key + "', expected from=" + version
                        + " or changes=skip");
            }
        }
        String place = location.substring(scheme.length() + 1);
        return new ChangeSource(table(place.matches("[a-z0-9]+://.*") ? Location.of(URI.create(place))
                : Location.of(Path.of(place))), settings.getOrDefault("from", ""), end,
                !"skip".equals(settings.get("changes")));
    }
}
