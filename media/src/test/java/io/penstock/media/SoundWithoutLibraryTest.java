// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.StackAndPad;
import io.penstock.dataset.RecordFields;
import io.penstock.error.PenstockException;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Sound where FFmpeg cannot be used, in a process of its own: the libraries are looked for once. */
class SoundWithoutLibraryTest {

    @TempDir
    private Path folder;

    /** Prints why the files of a folder are not decoded. */
    static final class Main {

        public static void main(String[] folder) throws IOException {
            try (RecordStore files = RecordStore.open(Path.of(folder[0]));
                    DataLoader loader = DataLoader.builder(RecordFields.of(files)
                            .and("file", SoundDecoder.mono(16_000))).collator(StackAndPad.fields()).batchSize(1).open();
                    Batch batch = loader.next()) {
                System.out.println(batch);
            } catch (PenstockException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aBrokenFileIsSaidToBeNoneOfThoseThatNeedNoLibrary() throws IOException {
        Path sounds = Files.createDirectory(folder.resolve("sounds"));
        Files.writeString(sounds.resolve("junk.wav"), "this is no sound");
        Path none = Files.createDirectory(folder.resolve("none"));
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-Dpenstock.ffmpeg=" + none, "-cp",
                System.getProperty("java.class.path"), Main.class.getName(), sounds.toString())
                .redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(said.contains("found no uncompressed WAV or AIFF, nor FLAC of up to 24 bits, which need no library; "
                + none), said);
    }
}
