// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.luben.zstd.ZstdOutputStream;
import io.penstock.json.Json;
import io.penstock.store.Fixtures;
import io.penstock.testing.Folders;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenizeCommandTest {

    private static final Path FIXTURES = Path.of("src/test/resources/fixtures");

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "cl100k_base"})
    void writesTheStoreThatTheReferencePacked(String encoding) throws IOException {
        Map<String, Object> manifest =
                Json.object(Json.parse(Files.readAllBytes(FIXTURES.resolve("text-manifest.json"))));
        int checked = 0;
        for (Object object : Json.array(manifest.get("entries"))) {
            Map<String, Object> entry = Json.object(object);
            if (!entry.containsKey("packed_tokens")) {
                continue;
            }
            Map<String, Object> truth = Json.object(Json.object(entry.get("packed_tokens")).get(encoding));
            Path store = folder.resolve("store" + checked++);
            CommandRun run = CommandRun.of("tokenize", FIXTURES.resolve((String) entry.get("path")), "-o", store,
                    "--encoding", encoding, "--append-eot", "--json");
            assertEquals(0, run.exitCode(), run.err());
            assertEquals("", run.err());
            assertEquals(truth.get("count"), run.json().get("tokens"));
            assertEquals(Json.object(entry.get("jsonl")).get("documents"), run.json().get("documents"));
            assertEquals(Json.object(entry.get("jsonl")).get("text_bytes_total"), run.json().get("text_bytes"));

            Map<String, Object> inspected = CommandRun.of("inspect", store, "--digest", "--json").json();
            Map<String, Object> tokens = Json.array(inspected.get("arrays")).stream().map(Json::object)
                    .filter(array -> "tokens".equals(array.get("name"))).findFirst().orElseThrow();
            assertEquals(truth.get("dtype").equals("<u2") ? "u16" : "i32", tokens.get("dtype"));
            assertEquals(truth.get("sha256"), tokens.get("sha256"), () -> "tokens of " + entry.get("id"));
        }
        assertTrue(checked >= 5);
    }

    @Test
    void writesTheSameBytesForAnyThreads() throws IOException {
        Path one = tokenized("one", "--threads", 1);
        Path many = tokenized("many", "--threads", 5);
        for (String ending : List.of(".bin", ".idx")) {
            assertArrayEquals(Files.readAllBytes(Path.of(one + ending)), Files.readAllBytes(Path.of(many + ending)));
        }
    }

    private Path tokenized(String name, Object... options) {
        Path store = folder.resolve(name);
        Object[] args = Stream.concat(Stream.of("tokenize", Fixtures.path("text/corpus.txt"),
                FIXTURES.resolve("jsonl/docs.jsonl"), FIXTURES.resolve("text/empty.txt"),
                FIXTURES.resolve("text/emoji.txt"), "-o", store), Stream.of(options)).toArray();
        CommandRun run = CommandRun.of(args);
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().contains("in 123 documents (gpt2) from 4 files"), run.out());
        return store;
    }

    @Test
    void takesAnotherField() throws IOException {
        Path lines = folder.resolve("a.jsonl");
        Files.writeString(lines, "{\"body\": \"x\", \"text\": 5}\n");
        CommandRun run = CommandRun.of("tokenize", lines, "-o", folder.resolve("out"), "--field", "body", "--json");
        assertEquals(1L, run.json().get("tokens"), run.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/reject_latin1.txt", "text/reject_invalid_truncated_char.txt",
        "jsonl/reject_malformed_line.jsonl", "jsonl/reject_missing_text_field.jsonl", "no/such.txt"})
    void endsWithThreeAndLeavesNothingOnBadInput(String name) throws IOException {
        Path file = FIXTURES.resolve(name);
        CommandRun run = CommandRun.of("tokenize", FIXTURES.resolve("text/english.txt"), file, "-o",
                folder.resolve("out"));
        assertEquals(3, run.exitCode(), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
        assertTrue(run.err().startsWith("penstock: " + file + ": "), run.err());
        assertEquals("", run.out());
        assertEquals(List.of(), Folders.files(folder));
    }

    @Test
    void anEmptyTextMakesAnEmptyStore() throws IOException {
        Path store = folder.resolve("out");
        assertEquals(0, CommandRun.of("tokenize", FIXTURES.resolve("text/empty.txt"), "-o", store).exitCode());
        CommandRun inspected = CommandRun.of("inspect", store, "--json");
        assertEquals(1L, inspected.json().get("documents"), inspected.err());
        assertEquals(0, Files.size(folder.resolve("out.bin")));
    }

    @Test
    void keepsAStoreThatIsThereUnlessForced() throws IOException {
        Path store = folder.resolve("out");
        Path text = FIXTURES.resolve("text/emoji.txt");
        assertEquals(0, CommandRun.of("tokenize", text, "-o", store).exitCode());
        byte[] first = Files.readAllBytes(folder.resolve("out.bin"));
        CommandRun again = CommandRun.of("tokenize", FIXTURES.resolve("text/scripts.txt"), "-o", store);
        assertEquals(1, again.exitCode());
        assertTrue(again.err().contains("out.idx: exists already"), again.err());
        assertArrayEquals(first, Files.readAllBytes(folder.resolve("out.bin")));
        CommandRun forced = CommandRun.of("tokenize", FIXTURES.resolve("text/scripts.txt"), "-o", store, "--force");
        assertEquals(0, forced.exitCode(), forced.err());
        assertTrue(Files.size(folder.resolve("out.bin")) > first.length);
    }

    @Test
    @Timeout(1200)
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void leavesNothingWhenInterruptedInTheMiddle() throws Exception {
        Path text = longText();
        Path err = folder.resolve("err");
        Path part = folder.resolve(".out.writing/new");
        CommandRun.interruptedWhen(() -> hasTokens(part), err, "tokenize", text, "-o", folder.resolve("out"));
        Files.delete(err);
        Files.delete(text);
        assertEquals(List.of(), Folders.files(folder));
    }

    /** 2 GB of words, far more than are read here, in a small file: a member of gzip, again and again. */
    private Path longText() throws IOException {
        ByteArrayOutputStream member = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(member)) {
            out.write("some words to encode ".repeat(100_000).getBytes(UTF_8));
        }
        Path text = folder.resolve("endless.txt.gz");
        try (OutputStream out = Files.newOutputStream(text)) {
            for (int i = 0; i < 1000; i++) {
                out.write(member.toByteArray());
            }
        }
        return text;
    }

    private static boolean hasTokens(Path staging) throws IOException {
        if (!Files.isDirectory(staging)) {
            return false;
        }
        try (Stream<Path> files = Files.list(staging)) {
            return files.anyMatch(file -> file.toFile().length() > 10_000); // no lock is so long
        }
    }

    @Test
    void aBombIsRefusedByNameAndLeavesNothing() throws IOException {
        Path bomb = folder.resolve("bomb.txt.zst");
        try (OutputStream out = new ZstdOutputStream(Files.newOutputStream(bomb))) {
            byte[] words = "words ".repeat(1 << 16).getBytes(UTF_8);
            for (int i = 0; i < 200; i++) {
                out.write(words);
            }
        }
        assertTrue(Files.size(bomb) < 20_000);
        CommandRun run = CommandRun.of("tokenize", bomb, "-o", folder.resolve("out"));
        assertEquals(3, run.exitCode(), run.err());
        assertEquals("penstock: " + bomb + ": found " + Files.size(bomb) + " bytes that decode to more than 67108864,"
                + " expected at most 67108864, the greater of 67108864 and 1100 times the file's size (--max-ratio"
                + " raises this limit)\n", run.err());
        Files.delete(bomb);
        assertEquals(List.of(), Folders.files(folder));
    }

    @Test
    void theLimitsAreOptions() throws IOException {
        Path text = folder.resolve("a.txt.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(text))) {
            out.write("words ".repeat(1 << 18).getBytes(UTF_8));
        }
        CommandRun small = CommandRun.of("tokenize", text, "-o", folder.resolve("out"), "--max-decoded", "1M");
        assertEquals(3, small.exitCode(), small.err());
        assertTrue(small.err().contains("more than 1048576, expected at most 1048576 (--max-decoded raises"),
                small.err());
        CommandRun enough = CommandRun.of("tokenize", text, "-o", folder.resolve("out"), "--max-decoded", "2M",
                "--max-ratio", 2);
        assertEquals(0, enough.exitCode(), enough.err());
        assertEquals(2, CommandRun.of("tokenize", text, "-o", folder.resolve("o"), "--max-ratio", 0).exitCode());
        CommandRun inspected = CommandRun.of("inspect", FIXTURES.resolve("webdataset/compressed.tar.gz"),
                "--max-decoded", "1K");
        assertEquals(3, inspected.exitCode(), inspected.err());
    }
}
