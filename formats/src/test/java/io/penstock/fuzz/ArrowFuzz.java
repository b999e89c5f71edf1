// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Arrow's files and streams: FlatBuffers, offsets, bitmaps, dictionaries, compressed buffers. */
final class ArrowFuzz {

    /** Fixtures that are folders are seeds of {@link ArrowFolderFuzz}. */
    private static final String NO_KIND = "";

    static final FuzzTarget TARGET = seeded(StoreFuzz.of(NO_KIND, "arrow", "x.arrow"));

    private ArrowFuzz() {
    }

    private static FuzzTarget seeded(StoreFuzz target) {
        StoreFuzz all = target;
        try {
            for (String resource : List.of("/arrow/truth.json", "/fixtures/arrow/nulls.arrow",
                    "/nested/small/nested_file.arrow")) {
                Path folder = Path.of(ArrowFuzz.class.getResource(resource).toURI()).getParent();
                try (Stream<Path> files = Files.list(folder)) {
                    for (Path seed : files.filter(file -> file.toString().endsWith(".arrow")).sorted().toList()) {
                        all = all.seededBy(Files.readAllBytes(seed));
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
        return all;
    }
}
