// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Location;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Names of files beyond the charset of the JVM's locale: read by their bytes where a folder's files are, refused with
 * the reason where only a text can name a file.
 */
@EnabledOnOs(OS.LINUX)
class FileNamesTest {

    @TempDir
    Path folder;

    private static CommandRun inLocaleC(Object... args) throws IOException, InterruptedException {
        Path err = Files.createTempFile("penstock", ".err");
        try {
            ProcessBuilder builder = CommandRun.builder(err, args);
            builder.environment().put("LC_ALL", "C");
            Process process = builder.start();
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new CommandRun(process.waitFor(), out, Files.readString(err, StandardCharsets.ISO_8859_1));
        } finally {
            Files.delete(err);
        }
    }

    @Test
    void aFolderIsReadByTheBytesOfItsNamesInAnyLocale() throws Exception {
        for (String name : List.of("caf\u00e9.txt", "\u6570\u636e.txt", "plain.txt")) {
            Files.writeString(folder.resolve(name), name);
        }
        String here = (String) CommandRun.of("inspect", "--digest", "--json", folder).json().get("record_digest");
        CommandRun run = inLocaleC("inspect", "--digest", "--json", folder);
        assertEquals(0, run.exitCode(), run.err());
        assertEquals(here, run.json().get("record_digest"));
        run = inLocaleC("batches", "--format", "files", "--batch", "3", folder);
        assertEquals(0, run.exitCode(), run.err());
        assertEquals(0, inLocaleC("verify", folder).exitCode());
    }

    @Test
    void aShardWhoseNameCannotBeTextInTheLocaleIsRefusedWhenListed() throws Exception {
        Files.write(folder.resolve("a.tar"), new byte[10240]);
        Files.write(folder.resolve("\u00fc.tar"), new byte[10240]);
        CommandRun run = inLocaleC("inspect", folder);
        assertEquals(3, run.exitCode());
        assertTrue(run.err().contains("LC_ALL=C.UTF-8"), run.err());
        run = inLocaleC("inspect", folder.resolve("\u00fc.tar"));
        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("LC_ALL=C.UTF-8"), run.err());
    }

    @Test
    void aShardWhoseNameIsNotUtf8IsRefusedWithTheReason() throws Exception {
        Files.write(folder.resolve("a.tar"), new byte[10240]);
        Path latin1 = Path.of(URI.create(folder.toUri() + "%FC.tar"));
        Files.write(latin1, new byte[10240]);
        CommandRun run = CommandRun.of("inspect", folder);
        assertEquals(3, run.exitCode());
        assertTrue(run.err().contains("%FC.tar: found a name that is not UTF-8"), run.err());
        assertTrue(assertThrows(InvalidPathException.class, () -> Location.of(latin1)).getMessage()
                .contains("not UTF-8"));
    }
}
