// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.stream.Stream;

/** A manifest and its parts; the seed is the first vector of its specification. */
final class ManifestFuzz {

    private static final String[] NAMES = {"x.manifest.json", "p.idx", "p.bin", "q.idx", "q.bin"};

    static final FuzzTarget TARGET = StoreFuzz.of("none", "manifest", NAMES).seededBy(seed());

    private ManifestFuzz() {
    }

    private static byte[][] seed() {
        try {
            Map<String, Object> vectors = Json.object(Json.parse(Files.readAllBytes(
                    Path.of("docs/spec/vectors/manifest.json"))));
            Map<String, Object> files = Json.object(Json.object(Json.array(vectors.get("stores")).getFirst())
                    .get("files"));
            return Stream.of(NAMES).map(name -> Base64.getDecoder().decode((String) files.get(name)))
                    .toArray(byte[][]::new);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
