// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.JavaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A JVM that is told of another operating system takes the paths without Linux's system calls: what it reads is the
 * same, and what it lacks it refuses by name. That the other system behaves as Java promises is not tested here.
 */
@Tag("slow")
@Timeout(1200)
class OtherSystemsTest {

    @TempDir
    static Path folder;

    @BeforeAll
    static void tokenize() throws Exception {
        assertEquals("", run("Linux", "tokenize", "examples/corpus", "-o", folder.resolve("tokens"), "--append-eot",
                "--quiet").err());
    }

    private static CommandRun run(String os, Object... args) throws IOException, InterruptedException {
        List<String> command = JavaCommand.of("-Dos.name=" + os);
        command.add(Penstock.class.getName());
        for (Object arg : args) {
            command.add(arg.toString());
        }
        Path err = folder.resolve("err");
        Process process = new ProcessBuilder(command).redirectError(err.toFile()).start();
        String out = new String(process.getInputStream().readAllBytes(), UTF_8);
        return new CommandRun(process.waitFor(), out, Files.readString(err));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Mac OS X", "Windows 11"})
    void batchesHaveTheSameBytes(String os) throws Exception {
        Object[] batches = {"batches", folder.resolve("tokens"), "--window", 128, "--batch", 16, "--limit", 20,
            "--digest", "--json"};
        CommandRun expected = run("Linux", batches);
        CommandRun found = run(os, batches);
        assertEquals(0, found.exitCode(), found.err());
        assertTrue(expected.out().contains("sha256"), expected.out());
        assertEquals(expected.out(), found.out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"Mac OS X", "Windows 11"})
    void cudaAndFfmpegAreRefusedByName(String os) throws Exception {
        CommandRun devices = run(os, "devices");
        assertTrue(devices.out().contains("CUDA is supported on 64-bit Linux, this is " + os + " on "),
                devices.out() + devices.err());
        Path film = Files.write(folder.resolve("film.mp4"), "\0\0\0\u0018ftypmp42".getBytes(UTF_8));
        CommandRun clips = run(os, "clips", "digest", film);
        assertTrue(clips.err().contains("needs FFmpeg on Linux, this is " + os + " on "), clips.err());
    }
}
