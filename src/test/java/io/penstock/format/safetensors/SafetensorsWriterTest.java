// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.safetensors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.Fixtures;
import io.penstock.store.IfExists;
import io.penstock.store.Inspection;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.TensorStore;
import io.penstock.store.integrity.BlockChecksums;
import io.penstock.store.integrity.Verification;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SafetensorsWriterTest {

    @TempDir
    private Path folder;

    @Test
    void whatTheLibraryWroteIsWrittenByteForByteTheSame() throws IOException {
        int files = 0;
        for (Fixtures.Entry entry : Fixtures.entries("safetensors").filter(e -> e.expect().equals("read")
                && Files.isRegularFile(e.path())).toList()) {
            Path written = folder.resolve("again.safetensors");
            Map<String, String> metadata = new LinkedHashMap<>();
            Json.object(entry.fields().getOrDefault("metadata", Map.of()))
                    .forEach((name, value) -> metadata.put(name, (String) value));
            try (TensorStore store = TensorStore.open(entry.path())) {
                SafetensorsWriter.write(written, shuffled(store), metadata, IfExists.REPLACE);
            }
            assertEquals(-1, Files.mismatch(entry.path(), written), entry.toString());
            files++;
        }
        assertTrue(files >= 6, "files compared: " + files);
    }

    private static Map<String, Tensor> shuffled(TensorStore store) {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < store.tensors().size(); i++) {
            order.add(i);
        }
        Collections.shuffle(order, new Random(7));
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        order.forEach(i -> tensors.put(store.tensors().get(i).name(), store.tensor(i)));
        return tensors;
    }

    @Test
    void everyDtypeComesBackAlignedToItsSize() throws IOException {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        try (Arena arena = Arena.ofConfined()) {
            for (DType dtype : DType.values()) {
                MemorySegment bytes = arena.allocate(3L * dtype.byteSize(), 8);
                bytes.fill((byte) (dtype.ordinal() % 2));
                tensors.put("the \"" + dtype + "\" \u00E9\n", Tensor.of(bytes, dtype, 3));
            }
            Path path = folder.resolve("all.safetensors");
            SafetensorsWriter.write(path, tensors, Map.of("k\"", "\u0001 v"), IfExists.FAIL);
            try (TensorStore store = SafetensorsProvider.open(Location.of(path))) {
                assertEquals(tensors.size(), store.tensors().size());
                for (int i = 0; i < store.tensors().size(); i++) {
                    Tensor expected = tensors.get(store.tensors().get(i).name());
                    assertEquals(expected.dtype(), store.tensor(i).dtype());
                    assertEquals(-1, expected.segment().mismatch(store.tensor(i).segment()));
                    assertEquals(0, store.tensor(i).segment().address() % expected.dtype().byteSize());
                }
                Inspection inspection = store.inspect(Inspection.Depth.STRUCTURE, Progress.NONE);
                assertEquals(Map.of("k\"", "\u0001 v"), inspection.details().get("metadata"));
            }
        }
    }

    @Test
    void aFileThatExistsIsKeptUnlessItIsToBeOverwritten() throws Exception {
        Path path = folder.resolve("x.safetensors");
        Files.writeString(path, "other");
        assertThrows(FileAlreadyExistsException.class,
                () -> SafetensorsWriter.write(path, Map.of(), Map.of(), IfExists.FAIL));
        assertEquals("other", Files.readString(path));
        SafetensorsWriter.write(path, Map.of(), Map.of(), IfExists.REPLACE);
        assertEquals("\10\0\0\0\0\0\0\0{}      ", Files.readString(path));
        assertEquals(List.of(path, BlockChecksums.pathFor(path)), Folders.files(folder));
        assertTrue(Verification.run(Location.of(path), OpenOptions.DEFAULT, 1, Progress.NONE).isGood());
    }

    @Test
    void theNameThatTheFormatKeepsForItselfIsRefused() {
        Tensor tensor = Tensor.of(MemorySegment.ofArray(new byte[1]), DType.U8, 1);
        assertThrows(IllegalArgumentException.class, () -> SafetensorsWriter.write(folder.resolve("x.safetensors"),
                Map.of("__metadata__", tensor), Map.of(), IfExists.FAIL));
    }
}
