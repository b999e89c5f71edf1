// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.LibraryException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LibrarySetTest {

    @TempDir
    private Path folder;

    @Test
    void anUnknownMajorIsRefusedByName() throws IOException {
        Files.createFile(folder.resolve("libavformat.so.63"));
        Files.createFile(folder.resolve("libavcodec.so.63"));
        var refusal = assertThrows(LibraryException.class, () -> LibrarySet.in(folder));
        assertEquals(folder + ": found libavformat 63, expected libavformat 59 to 62 (FFmpeg 5.1 to 8); "
                + "-Dpenstock.ffmpeg names a folder with another", refusal.getMessage());
    }

    @Test
    void aMixedSetIsRefusedByWhatItLacks() throws IOException {
        for (String name : new String[] {"libavformat.so.62", "libavcodec.so.61", "libavutil.so.60",
            "libswresample.so.6"}) {
            Files.createFile(folder.resolve(name));
        }
        var refusal = assertThrows(LibraryException.class, () -> LibrarySet.in(folder));
        assertTrue(refusal.getMessage().contains("found libavformat 62 without [libavcodec.so.62]"),
                refusal.getMessage());
    }

    @Test
    void aFolderWithoutLibrariesAndOneThatIsMissingAreRefused() {
        assertTrue(assertThrows(LibraryException.class, () -> LibrarySet.in(folder)).getMessage()
                .contains("found no libavformat"));
        assertTrue(assertThrows(LibraryException.class, () -> LibrarySet.in(folder.resolve("none"))).getMessage()
                .contains("cannot be read"));
    }

    @Test
    void aLibraryOfAnotherVersionUnderTheNameIsRefused() throws IOException {
        Ffmpeg.assume();
        for (String name : new String[] {"libavutil.so.60", "libswresample.so.6", "libavcodec.so.62",
            "libavformat.so.62"}) {
            Files.writeString(folder.resolve(name), "not a library");
        }
        var refusal = assertThrows(LibraryException.class, () -> LibrarySet.in(folder));
        assertTrue(refusal.getMessage().contains("libavutil.so.60 cannot be loaded"), refusal.getMessage());
    }

    @Test
    void theLibrariesPassTheirTest() throws IOException {
        Ffmpeg.assume();
        FFmpeg.require();
        assertTrue(FFmpeg.version().contains("libavcodec"), FFmpeg.version());
    }
}
