// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.manifest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.Tensor;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The vectors of {@code docs/spec/manifest.md}, which a Python program wrote. */
class ManifestSpecTest {

    @TempDir
    private Path folder;

    private static List<Map<String, Object>> vectors(String kind) throws IOException {
        Map<String, Object> all = Json.object(Json.parse(Files.readAllBytes(
                Path.of("docs/spec/vectors/manifest.json"))));
        return Json.array(all.get(kind)).stream().map(Json::object).toList();
    }

    private Path write(int number, Map<String, Object> vector) throws IOException {
        Path own = folder.resolve("store" + number);
        for (Map.Entry<String, Object> file : Json.object(vector.get("files")).entrySet()) {
            Path path = own.resolve(file.getKey());
            Files.createDirectories(path.getParent());
            Files.write(path, Base64.getDecoder().decode((String) file.getValue()));
        }
        return own.resolve("x.manifest.json");
    }

    @Test
    void storesHaveTheTokensDocumentsAndFingerprintsOfTheVectors() throws IOException {
        int number = 0;
        for (Map<String, Object> vector : vectors("stores")) {
            try (TokenStore store = TokenStore.open(write(number++, vector))) {
                assertEquals(vector.get("dtype"), store.dtype().toString());
                assertEquals(vector.get("fingerprint"), store.fingerprint());
                List<Object> starts = Json.array(vector.get("document_starts"));
                assertEquals(starts.size() - 1, store.documentCount());
                for (int document = 0; document < starts.size(); document++) {
                    assertEquals(starts.get(document), store.documentStart(document));
                }
                long[] tokens = Json.array(vector.get("tokens")).stream().mapToLong(token -> (Long) token).toArray();
                assertArrayEquals(tokens, read(store), () -> "tokens of " + vector.get("name"));
            }
        }
        assertTrue(number >= 4);
    }

    private static long[] read(TokenStore store) {
        long[] tokens = new long[(int) store.tokenCount()];
        int at = 0;
        Span span = new Span();
        for (int part = 0; part < store.parts(0, tokens.length); part++) {
            store.locatePart(0, tokens.length, part, span);
            long count = span.byteSize() / store.dtype().byteSize();
            Tensor piece = Tensor.of(span.slice(), store.dtype(), count);
            for (long i = 0; i < count; i++) {
                tokens[at++] = piece.getLong(i);
            }
        }
        assertEquals(tokens.length, at);
        return tokens;
    }

    @Test
    void whatIsRefusedIsRefusedByTheNameOfTheFile() throws IOException {
        int number = 0;
        for (Map<String, Object> vector : vectors("refused")) {
            Path file = write(number++, vector);
            Exception e = assertThrows(MalformedStoreException.class, () -> TokenStore.open(file),
                    () -> (String) vector.get("name"));
            assertTrue(e.getMessage().startsWith(file.resolveSibling((String) vector.get("file")) + ": "),
                    vector.get("name") + ": " + e.getMessage());
        }
        assertTrue(number >= 10);
    }
}
