// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointTest {

    private static final LoaderState STATE = new LoaderState(3, 96, -1, "feistel-8 size=100 seed=-1", "data");

    @TempDir
    Path folder;

    private void write(String name, String text) throws IOException {
        Files.createDirectories(folder.resolve(name).getParent());
        Files.writeString(folder.resolve(name), text);
    }

    @Test
    void aStateIsReadBackWithTheFilesThatItWasSavedWith() throws IOException {
        write("model.bin", "weights");
        write("optimizer/rank0.bin", "moments");
        Checkpoint saved = Checkpoint.save(folder, 120, STATE, "model.bin", "optimizer/rank0.bin");
        Checkpoint loaded = Checkpoint.load(folder);
        assertEquals(saved, loaded);
        assertEquals(120, loaded.step());
        assertEquals(STATE, loaded.state());
        // The CRC-32C of "weights" by an implementation of its own: RFC 3720's polynomial, bit by bit.
        int crc = -1;
        for (byte b : "weights".getBytes()) {
            crc ^= b & 0xFF;
            for (int bit = 0; bit < 8; bit++) {
                crc = crc >>> 1 ^ ((crc & 1) == 1 ? 0x82F63B78 : 0);
            }
        }
        assertEquals(new Checkpoint.FileMark(7, ~crc & 0xFFFFFFFFL), loaded.files().get("model.bin"));
    }

    @Test
    void filesOfAnotherStepAreRefusedAndAllOfThemNamed() throws IOException {
        for (String name : new String[] {"a", "b", "c", "d"}) {
            write(name, "weights");
        }
        Checkpoint.save(folder, 7, STATE, "a", "b", "c", "d");
        write("a", "Weights");
        write("b", "weight");
        Files.delete(folder.resolve("c"));
        String message = assertThrows(IOException.class, () -> Checkpoint.load(folder)).getMessage();
        assertTrue(message.contains("step 7") && message.contains("a has different content")
                && message.contains("b has 6 bytes, it had 7") && message.contains("c is missing")
                && !message.contains("; d "), message);
    }

    @Test
    void whatIsNoCheckpointOrLeadsOutOfItsFolderIsRefused() throws IOException {
        assertThrows(NoSuchFileException.class, () -> Checkpoint.load(folder));
        assertThrows(NoSuchFileException.class, () -> Checkpoint.save(folder, 1, STATE, "absent"));
        for (String name : new String[] {"../x", "/etc/hosts", "", "a/../../x"}) {
            assertThrows(IllegalArgumentException.class, () -> Checkpoint.save(folder, 1, STATE, name), name);
        }
        String good = new Checkpoint(1, STATE, Map.of("f", new Checkpoint.FileMark(1, 2))).toJson();
        assertEquals(good, Checkpoint.fromJson(good).toJson());
        for (String bad : new String[] {"", "{}", "[]", good.replace("checkpoint\":1", "checkpoint\":2"),
            good.replace("\"step\":1", "\"step\":\"1\""), good.replace("[1,2]", "[1]"), good.replace("[1,2]", "7"),
            good.replace("\"epoch\":3", "\"epoch\":-3"),
            good.replace("\"f\"", "\"../f\""), good.substring(0, good.length() - 1)}) {
            write(Checkpoint.FILE_NAME, bad);
            String message = assertThrows(MalformedStoreException.class, () -> Checkpoint.load(folder), bad)
                    .getMessage();
            assertTrue(message.contains(Checkpoint.FILE_NAME), message);
        }
    }
}
