// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
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

    // ---- one folder per step

    private Path save(long step) throws IOException {
        Path checkpoint = Checkpoint.newFolder(folder, step);
        Files.writeString(checkpoint.resolve("model.bin"), "weights of " + step);
        Checkpoint.save(checkpoint, step, STATE, "model.bin");
        return checkpoint;
    }

    private List<String> names() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void theLatestIsThatOfTheHighestStep() throws IOException {
        assertEquals(Optional.empty(), Checkpoint.latest(folder.resolve("absent")));
        assertEquals(Optional.empty(), Checkpoint.latest(folder));
        save(100);
        save(99_999_999);
        Path last = save(100_000_000);
        assertEquals("step-100000000", last.getFileName().toString());
        assertEquals(Optional.of(last), Checkpoint.latest(folder));
        assertEquals(100_000_000, Checkpoint.load(last).step());
    }

    @Test
    void whatAKilledRunLeftIsPassedOverAndItsFolderUsedAgain() throws IOException {
        Path before = save(100);
        Path left = Checkpoint.newFolder(folder, 120);
        Files.writeString(left.resolve("model.bin"), "half");
        Files.writeString(left.resolve("more"), "half");
        assertEquals(Optional.of(before), Checkpoint.latest(folder));
        assertEquals(left, Checkpoint.newFolder(folder, 120));
        assertEquals(0, left.toFile().list().length);
        assertEquals(left, save(120));
        assertEquals(Optional.of(left), Checkpoint.latest(folder));
    }

    @Test
    void aStepThatIsSavedAgainLeavesItsFirstCheckpointUntilTheSecondIsComplete() throws IOException {
        Path first = save(100);
        Path second = Checkpoint.newFolder(folder, 100);
        assertEquals("step-00000100-2", second.getFileName().toString());
        assertEquals(Optional.of(first), Checkpoint.latest(folder));
        assertEquals(second, save(100));
        assertEquals(Optional.of(second), Checkpoint.latest(folder));
        Checkpoint.keepLatest(folder, 1);
        assertEquals(List.of("step-00000100-2"), names());
        assertEquals("step-00000100-3", save(100).getFileName().toString());
    }

    @Test
    void olderOnesAreDeletedAndNothingElse() throws IOException {
        for (long step = 100; step <= 400; step += 100) {
            save(step);
        }
        Checkpoint.newFolder(folder, 500);
        for (String other : List.of("step-00000150/model.bin", "step-1/x", "step-00000100-copy/x", "notes.txt")) {
            write(other, "mine");
        }
        Checkpoint.keepLatest(folder, 2);
        assertEquals(List.of("notes.txt", "step-00000100-copy", "step-00000300", "step-00000400", "step-00000500",
                "step-1"), names());
        Checkpoint.keepLatest(folder, 7);
        assertEquals(6, names().size());
        assertThrows(IllegalArgumentException.class, () -> Checkpoint.keepLatest(folder, 0));
        assertThrows(IllegalArgumentException.class, () -> Checkpoint.newFolder(folder, -1));
    }

    @Test
    void aStepBehindALaterCheckpointIsNotSaved() throws IOException {
        save(200);
        String message = assertThrows(FileAlreadyExistsException.class, () -> save(110)).getMessage();
        assertTrue(message.contains("step-00000200: is the checkpoint of a later step than 110"), message);
        assertEquals(List.of("step-00000200"), names());
    }

    @Test
    void aFolderThatIsItselfACheckpointIsFoundUntilThereAreSteps() throws IOException {
        write("model.bin", "weights");
        Checkpoint.save(folder, 60, STATE, "model.bin");
        assertEquals(Optional.of(folder), Checkpoint.latest(folder));
        assertEquals(Optional.of(save(80)), Checkpoint.latest(folder));
        Checkpoint.keepLatest(folder, 1);
        assertEquals(60, Checkpoint.load(folder).step());
    }

    @Test
    void aChangedCheckpointSaysWhatToResumeFrom() throws IOException {
        Path older = save(100);
        Path damaged = save(110);
        Path last = save(120);
        write("step-00000110/model.bin", "weights of 130");
        write("step-00000120/model.bin", "weights of 130");
        String message = assertThrows(IOException.class, () -> Checkpoint.load(last)).getMessage();
        assertTrue(message.contains("a run that was killed") && message.endsWith("The checkpoint of step 100 is whole, "
                + older + ": to resume from it, delete " + last), message);
        Files.delete(older.resolve(Checkpoint.FILE_NAME));
        message = assertThrows(IOException.class, () -> Checkpoint.load(last)).getMessage();
        assertTrue(message.contains("start again") && message.contains("Checkpoint.newFolder"), message);
        assertTrue(Files.exists(damaged.resolve(Checkpoint.FILE_NAME)));
    }
}
