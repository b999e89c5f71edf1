// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.safetensors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.Fixtures;
import io.penstock.store.IfExists;
import io.penstock.store.Store;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several files that an index makes one store. */
class SafetensorsShardsTest {

    @TempDir
    private Path folder;

    private Path index;

    @BeforeEach
    void twoShards() throws IOException {
        SafetensorsWriter.write(folder.resolve("one.safetensors"), Map.of("a", bytes(1), "extra", bytes(9)), Map.of(),
                IfExists.FAIL);
        SafetensorsWriter.write(folder.resolve("two.safetensors"), Map.of("b", bytes(2), "a", bytes(8)), Map.of(),
                IfExists.FAIL);
        index = folder.resolve("model.safetensors.index.json");
        map(Map.of("a", "one.safetensors", "b", "two.safetensors"));
    }

    private static Tensor bytes(int value) {
        return Tensor.of(MemorySegment.ofArray(new byte[] {(byte) value, 0, 0}), DType.U8, 3);
    }

    private void map(Object weightMap) throws IOException {
        Files.writeString(index, Json.write(Map.of("metadata", Map.of("total_size", 1), "weight_map", weightMap)));
    }

    @Test
    void eachTensorIsTheOneOfTheFileThatTheIndexNames() throws IOException {
        for (Path path : List.of(index, folder)) {
            try (TensorStore store = TensorStore.open(path)) {
                assertEquals(List.of("a: u8[3]", "b: u8[3]"),
                        store.tensors().stream().map(Object::toString).toList());
                assertEquals(1, store.tensor(0).getLong(0));
                assertEquals(2, store.tensor(1).getLong(0));
            }
        }
    }

    @Test
    void theFolderAndTheIndexOfAFixtureAreTheSameStore() throws IOException {
        Path fixture = Fixtures.path("safetensors/sharded");
        try (Store byFolder = Store.open(fixture);
                Store byIndex = Store.open(fixture.resolve("model.safetensors.index.json"))) {
            assertEquals(byFolder.fingerprint(), byIndex.fingerprint());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"../one.safetensors", "/one.safetensors", "x/../../one.safetensors", "..", "",
        "..\\one.safetensors", "one.safetensors\u0000"})
    void aNameThatLeavesTheFolderIsRefused(String name) throws IOException {
        map(Map.of("a", name));
        String message = assertThrows(MalformedStoreException.class, () -> Store.open(index)).getMessage();
        assertTrue(message.contains("expected one within the folder"), message);
    }

    @Test
    void aShardThatIsNotThereIsNamed() throws IOException {
        map(Map.of("a", "one.safetensors", "b", "three.safetensors"));
        String message = assertThrows(MalformedStoreException.class, () -> Store.open(index)).getMessage();
        assertTrue(message.contains("no file 'three.safetensors'"), message);
    }

    @Test
    void aTensorThatItsFileLacksIsNamed() throws IOException {
        map(Map.of("a", "one.safetensors", "b", "one.safetensors"));
        String message = assertThrows(MalformedStoreException.class, () -> Store.open(folder)).getMessage();
        assertTrue(message.contains("one.safetensors") && message.contains("no tensor 'b'"), message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "{}", "{\"weight_map\":[]}", "{\"weight_map\":{\"a\":1}}",
        "{\"weight_map\":{\"a\":\"one.safetensors\",\"a\":\"two.safetensors\"}}"})
    void anIndexThatIsNoMapOfTensorsToFilesIsRefused(String text) throws IOException {
        Files.writeString(index, text);
        assertThrows(MalformedStoreException.class, () -> Store.open(index));
    }

    @Test
    void aFolderOfSeveralFilesWithoutAnIndexIsRefusedAndOneOfASingleFileIsThatFile() throws IOException {
        Files.delete(index);
        String message = assertThrows(MalformedStoreException.class, () -> Store.open(folder)).getMessage();
        assertTrue(message.contains("2 files *.safetensors"), message);
        Files.delete(folder.resolve("two.safetensors"));
        try (TensorStore store = TensorStore.open(folder)) {
            assertEquals(2, store.tensors().size());
        }
    }
}
