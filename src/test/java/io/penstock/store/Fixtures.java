// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.json.Json;
import io.penstock.memory.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

/** Files written by the formats' own libraries, and what those libraries read in them. */
public final class Fixtures {

    private Fixtures() {
    }

    /** The formats of token stores, and {@code .npy}. */
    public static final String[] TOKENS_AND_NPY = {"npy", "megatron", "nanogpt", "llmc", "datatrove"};

    /** A fixture's entry in the manifest. */
    public record Entry(Map<String, Object> fields) {

        /** The format. */
        public String kind() {
            return (String) fields.get("kind");
        }

        /** Where the file is. */
        public Path path() {
            return Fixtures.path((String) fields.get("path"));
        }

        /**
         * The files that are there of those that it is made of: the file itself, or those in the folder, if the
         * manifest lists none.
         */
        public List<Path> files() throws IOException {
            if (fields.get("files") instanceof List<?> names) {
                return names.stream().map(name -> Fixtures.path(name.toString())).filter(Files::exists).toList();
            }
            try (Stream<Path> files = Files.walk(path())) {
                return files.filter(Files::isRegularFile).sorted().toList();
            }
        }

        /** {@code read}, {@code reject} or {@code read-or-reject}. */
        public String expect() {
            return (String) fields.get("expect");
        }

        /** The arrays it holds. */
        public List<Map<String, Object>> arrays() {
            return Json.array(fields.get("arrays")).stream().map(Json::object).toList();
        }

        @Override
        public String toString() {
            return (String) fields.get("id");
        }
    }

    /** The path of a file or folder of the resources of any module's tests. */
    public static Path resource(String name) {
        try {
            return Path.of(Objects.requireNonNull(Fixtures.class.getResource("/" + name), name).toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    /** The path of a fixture by its name in the manifest; a large one is kept as gzip, and unpacked when asked for. */
    public static Path path(String name) {
        try {
            Path file = Path.of(Fixtures.class.getResource("/fixtures").toURI()).resolve(name);
            Path packed = file.resolveSibling(file.getFileName() + ".gz");
            if (!Files.exists(file) && Files.exists(packed)) {
                Path part = Files.createTempFile(file.getParent(), "unpacked", ".part");
                try (InputStream in = new GZIPInputStream(Files.newInputStream(packed))) {
                    Files.copy(in, part, StandardCopyOption.REPLACE_EXISTING);
                }
                Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            }
            return file;
        } catch (URISyntaxException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The fixtures of some formats. */
    public static Stream<Entry> entries(String... kinds) throws IOException {
        Object manifest = Json.parse(Files.readAllBytes(path("manifest.json")));
        return Json.array(Json.object(manifest).get("entries")).stream().map(entry -> new Entry(Json.object(entry)))
                .filter(entry -> List.of(kinds).contains(entry.kind()));
    }

    /** Checks the elements of which the manifest has the bytes. */
    public static void assertSpots(Map<String, Object> array, Tensor tensor) {
        for (Object each : Json.array(array.getOrDefault("spots", List.of()))) {
            Map<String, Object> spot = Json.object(each);
            List<Object> index = Json.array(spot.get("index"));
            long element = 0;
            for (int d = 0; d < index.size(); d++) {
                element = element * tensor.dim(d) + ((Number) index.get(d)).longValue();
            }
            int bytes = tensor.dtype().byteSize();
            assertEquals(spot.get("hex"), HexFormat.of().formatHex(
                    tensor.segment().asSlice(element * bytes, bytes).toArray(ValueLayout.JAVA_BYTE)));
            if (spot.get("value") instanceof Number value) {
                assertEquals(value.doubleValue(), tensor.getDouble(element));
            }
        }
    }
}
