// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.FormatJar;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.example.format.BrokenProvider;
import org.example.format.LastProvider;
import org.example.format.TokProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands on a format of a jar that lies beside Penstock on the class path. */
@Timeout(1200)
class OwnFormatCommandTest {

    private static final int TOKENS = 1000;

    @TempDir
    static Path folder;
    private static Path tok;
    private static Path bin;

    @BeforeAll
    static void writeTheSameTokensTwice() throws IOException {
        ByteBuffer tokens = ByteBuffer.allocate(TOKENS * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < TOKENS; i++) {
            tokens.putShort((short) (i * 37 % 500));
        }
        bin = Files.write(folder.resolve("tokens.bin"), tokens.array());
        byte[] withMagic = ByteBuffer.allocate(4 + tokens.capacity())
                .put("TOK1".getBytes(StandardCharsets.ISO_8859_1)).put(tokens.array()).array();
        tok = Files.write(folder.resolve("tokens.any"), withMagic);
    }

    private static CommandRun run(List<Class<?>> providers, Object... args) throws Exception {
        Path jar = FormatJar.write(folder.resolve("formats.jar"), providers.toArray(Class<?>[]::new));
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.endsWith("test-classes")).collect(Collectors.joining(File.pathSeparator));
        return CommandRun.onClassPath(classPath + File.pathSeparator + jar, args);
    }

    private static Map<String, Object> json(Object... args) throws Exception {
        CommandRun run = run(List.of(TokProvider.class), args);
        assertEquals(0, run.exitCode(), run.err());
        return run.json();
    }

    @Test
    void inspectShowsIt() throws Exception {
        Map<String, Object> found = json("inspect", tok, "--digest", "--json");
        assertEquals("tok", found.get("kind"));
        assertEquals(json("inspect", bin, "--digest", "--json").get("arrays"), found.get("arrays"));
    }

    @Test
    void convertWritesItByItsEnding() throws Exception {
        Path target = folder.resolve("copy.tok");
        Map<String, Object> written = json("convert", bin, target, "--json");
        assertEquals("tok", written.get("format"));
        assertArrayEquals(Files.readAllBytes(tok), Files.readAllBytes(target));
        CommandRun refused = run(List.of(TokProvider.class), "convert", bin, folder.resolve("x"), "--to", "tik");
        assertEquals(2, refused.exitCode());
        assertTrue(refused.err().contains("found 'tik', expected one of [tok, megatron, npy, safetensors, webdataset]"),
                refused.err());
    }

    @Test
    void itsBatchesAreThoseOfTheSameTokensInAFormatOfPenstocks() throws Exception {
        Object[] plan = {"--window", 16, "--batch", 4, "--seed", 3, "--digest", "--json"};
        List<String> lines = batches(tok, plan);
        assertTrue(lines.size() > 10, () -> lines.size() + " lines");
        assertEquals(batches(bin, plan), lines);
    }

    private static List<String> batches(Path store, Object... plan) throws Exception {
        Object[] args = new Object[plan.length + 2];
        args[0] = "batches";
        args[1] = store;
        System.arraycopy(plan, 0, args, 2, plan.length);
        CommandRun run = run(List.of(TokProvider.class), args);
        assertEquals(0, run.exitCode(), run.err());
        return run.out().lines().filter(line -> line.contains("sha256")).toList();
    }

    @Test
    void itIsStreamedAndVerified() throws Exception {
        Map<String, Object> streamed = json("stream", tok, "--window", 16, "--batch", 4, "--steps", 10, "--json");
        assertEquals(10L, streamed.get("steps"), streamed::toString);
        assertEquals(true, json("verify", tok, "--json").get("good"));
    }

    @Test
    void aWrongNameIsAnsweredWithItsNameToo() throws Exception {
        CommandRun run = run(List.of(TokProvider.class), "inspect", tok, "--format", "nyp");
        assertEquals(2, run.exitCode());
        assertTrue(run.err().startsWith("penstock: unknown format 'nyp', expected one of [tok, megatron, "), run.err());
    }

    @Test
    void providersThatDoNotWorkAreNamedInOneLine() throws Exception {
        CommandRun twice = run(List.of(TokProvider.class, LastProvider.class), "inspect", tok);
        assertEquals(1, twice.exitCode());
        assertEquals("penstock: two providers of the format 'tok': org.example.format.TokProvider and"
                + " org.example.format.LastProvider, expected one\n", twice.err());
        Path bad = Files.writeString(folder.resolve("bad.txt"), "BAD");
        CommandRun broken = run(List.of(BrokenProvider.class), "inspect", bad);
        assertEquals(1, broken.exitCode());
        assertTrue(broken.err().contains("(org.example.format.BrokenProvider) failed"), broken.err());
        assertEquals(1, broken.err().lines().count(), broken.err());
    }
}
