// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.BatchVectors;
import io.penstock.collate.PackingVectors;
import io.penstock.error.MalformedStoreException;
import io.penstock.json.Json;
import io.penstock.state.EditVectors;
import io.penstock.state.LoaderState;
import io.penstock.stream.StreamVectors;
import io.penstock.testing.Python;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The vectors of the port specification hold for this implementation and for one written from the pages. */
class SpecVectorsTest {

    private static final Path VECTORS = Path.of("docs/spec/vectors");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"permutation", "sharding", "state", "windows", "slab", "randomness", "samplers",
        "mixtures", "packing", "batching", "streams", "edits", "ledger"})
    void theVectorsAreWhatThisImplementationGives(String name) throws IOException {
        Map<String, Object> made = switch (name) {
            case "permutation" -> SpecVectors.permutation();
            case "sharding" -> SpecVectors.sharding();
            case "state" -> SpecVectors.state();
            case "windows" -> BatchVectors.windows();
            case "slab" -> BatchVectors.slab();
            case "randomness" -> SpecVectors.randomness();
            case "samplers" -> SamplerVectors.samplers();
            case "mixtures" -> SamplerVectors.mixtures();
            case "packing" -> PackingVectors.packing();
            case "batching" -> BatchingVectors.batching();
            case "streams" -> StreamVectors.streams();
            case "edits" -> EditVectors.edits();
            case "ledger" -> EditVectors.ledger(folder);
            default -> throw new IllegalArgumentException(name);
        };
        Object vectors = Json.parse(Files.readAllBytes(VECTORS.resolve(name + ".json")));
        assertEquals(Json.parse(Json.write(made)), vectors);
    }

    @Test
    void statesThatTheSpecificationRefusesAreRefused() throws IOException {
        Map<String, Object> vectors = Json.object(Json.parse(Files.readAllBytes(VECTORS.resolve("state.json"))));
        for (Object text : Json.array(vectors.get("refused"))) {
            assertThrows(IllegalArgumentException.class, () -> LoaderState.fromJson((String) text), (String) text);
        }
        assertTrue(Json.array(vectors.get("refused_bytes")).size() >= 6);
        for (Object bytes : Json.array(vectors.get("refused_bytes"))) {
            Path file = Files.write(folder.resolve("state.json"), HexFormat.of().parseHex((String) bytes));
            String message = assertThrows(MalformedStoreException.class, () -> LoaderState.read(file)).getMessage();
            assertTrue(message.startsWith(file + ": not a loader state: at offset "), message);
            assertTrue(message.matches(".*: found (byte 0x..|the end), expected .*"), message);
        }
        for (Object text : Json.array(vectors.get("texts"))) {
            String json = (String) Json.object(text).get("text");
            assertEquals(json, LoaderState.fromJson(json).toJson());
        }
    }

    @Tag("slow")
    @Test
    void anImplementationWrittenFromThePagesAgrees() throws IOException, InterruptedException {
        String output = Python.run("src/test/python/spec_check.py", VECTORS.toString());
        assertTrue(output.endsWith(" checks passed\n"), output);
    }
}
