// SPDX-License-Identifier: Apache-2.0
package io.penstock.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.json.Json;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Fixtures;
import io.penstock.store.RecordStore;
import io.penstock.testing.Python;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What was written, read by numpy, safetensors and Python's tarfile, where they are installed. */
class ConversionPeerTest {

    @TempDir
    private Path folder;

    @Test
    void theFormatsOwnLibrariesReadWhatWasWritten() throws Exception {
        Path source = Fixtures.path("arrow/hf_dataset");
        Converted.run(source, folder.resolve("x.npy"), "npy",
                conversion -> conversion.fields(List.of("tokens")));
        Converted.run(source, folder.resolve("x.safetensors"), "safetensors");
        Converted.run(source, folder.resolve("x.tar"), "webdataset");
        String output = Python.run("src/test/python/convert_check.py", folder.toString());
        assertEquals(String.join("\n", expected(source)) + "\n", output);
    }

    private static List<String> expected(Path source) throws IOException {
        List<Map<String, Object>> columns = Json.array(Json.object(Converted.readable("arrow").stream()
                .filter(entry -> entry.path().equals(source)).findFirst().orElseThrow().fields().get("table"))
                .get("columns")).stream().map(Json::object).toList();
        String tokens = Converted.sha256(columns, "tokens.values");
        List<String> lines = new ArrayList<>(List.of("npy " + tokens));
        for (String name : List.of("flag", "label", "score")) {
            lines.add("safetensors " + name + " [60] " + Converted.sha256(columns, name));
        }
        lines.add("safetensors tokens [60, 129] " + tokens);
        lines.add("tar 480 " + tokens);
        List<Long> labels = new ArrayList<>();
        try (RecordStore rows = RecordStore.open(source)) {
            for (int r = 0; r < 5; r++) {
                labels.add(MemorySegment.ofArray(Converted.value(rows, r, "label")).get(LittleEndian.I64, 0));
            }
        }
        lines.add("labels " + labels);
        return lines;
    }
}
