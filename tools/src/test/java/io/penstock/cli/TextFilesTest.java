// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.JavaCommand;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** That {@code tokenize} and {@code --source} take the same files for text, and read the same text in them. */
class TextFilesTest {

    private static final String LINE = "Zürich liegt am Fluß, sagt der alte Müller.\n";

    @TempDir
    private Path folder;

    private Path write(String name, byte[] content) throws IOException {
        return Files.write(folder.resolve(name), content);
    }

    private static byte[] gzipped(byte[] content) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(packed)) {
            out.write(content);
        }
        return packed.toByteArray();
    }

    private static CommandRun batches(Path file, Object... more) {
        List<Object> args = new ArrayList<>(List.of("batches", "--source", file, "--documents", "--max-length", 64,
                "--batch", 4, "--digest", "--json"));
        args.addAll(List.of(more));
        return CommandRun.of(args.toArray());
    }

    private void assertRefused(Path file, String problem) {
        Path store = folder.resolve("store");
        CommandRun tokenized = CommandRun.of("tokenize", file, "-o", store);
        assertEquals(3, tokenized.exitCode(), tokenized.err());
        assertTrue(tokenized.err().startsWith("penstock: " + file + ": " + problem), tokenized.err());
        CommandRun streamed = batches(file);
        assertEquals(3, streamed.exitCode(), streamed.out() + streamed.err());
        assertTrue(streamed.err().contains(file + ": " + problem), streamed.err());
        assertEquals("", streamed.out());
    }

    /** Written by {@code zstd --long=28} from the text "a line\n". */
    @Test
    void aWindowOfZstdBeyondTheLimitIsAnOption() throws IOException {
        Path file = write("a.txt.zst", Base64.getDecoder().decode("KLUv/QSQOQAAYSBsaW5lCil5raA="));
        String problem = "zstd: at byte 0: found a frame with a window of 268435456 bytes, expected at most 134217728"
                + " (--max-window raises this limit)";
        CommandRun tokenized = CommandRun.of("tokenize", file, "-o", folder.resolve("store"));
        assertEquals("penstock: " + file + ": " + problem + "\n", tokenized.err());
        assertEquals(3, tokenized.exitCode());
        CommandRun streamed = batches(file);
        assertEquals(3, streamed.exitCode());
        assertTrue(streamed.err().contains(problem), streamed.err());
        assertEquals(0, CommandRun.of("tokenize", file, "-o", folder.resolve("store"), "--max-window", "256M")
                .exitCode());
        assertEquals(batches(write("a.txt", "a line\n".getBytes(UTF_8))).out(),
                batches(file, "--max-window", "200M").out());
    }

    @Tag("slow")
    @Test
    void aLineThatDoesNotFitTheHeapIsTheErrorOfOneLine() throws Exception {
        Path file = folder.resolve("long.jsonl.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write("{\"text\": \"".getBytes(UTF_8));
            byte[] words = "word ".repeat(1 << 18).getBytes(UTF_8);
            for (int i = 0; i < 48; i++) {
                out.write(words);
            }
            out.write("\"}\n".getBytes(UTF_8));
        }
        Path store = folder.resolve("store");
        Path err = folder.resolve("err.txt");
        for (List<Object> args : List.<List<Object>>of(List.of("tokenize", file, "-o", store),
                List.of("batches", "--source", file, "--documents", "--max-length", 8, "--batch", 1))) {
            // The line fits neither heap; into the larger one fits the half of it.
            for (String heap : List.of("-Xmx40m", "-Xmx80m")) {
                List<String> command = JavaCommand.of(heap);
                command.add(Penstock.class.getName());
                args.forEach(arg -> command.add(arg.toString()));
                Process process = new ProcessBuilder(command).redirectError(err.toFile()).start();
                process.getInputStream().readAllBytes();
                assertEquals(1, process.waitFor());
                String message = Files.readString(err);
                assertTrue(message.matches("penstock: .*memory.*; set PENSTOCK_JAVA_OPTS=-Xmx8g for a larger heap\n"),
                        message);
            }
        }
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(Set.of(file, err), left.collect(Collectors.toSet()));
        }
    }

    /** Written by {@code xz}, {@code bzip2} and {@code lzma} from the text "a line\n". */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "xz data | /Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAGYSBsaW5lCgAADRO4K2U+CFIAAR8HFi64cx+2830BAAAAAARZWg==",
        "bzip2 data | QlpoOTFBWSZTWeH33BkAAAFRAAAQQAAiJSAAIgybQhgG0EKLuSKcKEhw++4MgA==",
        "LZMA data | XQAAgAD//////////wAwiAmG1B9FdwAUP///RlwAAA=="})
    void filesThatAreOtherwiseCompressedAreRefusedByName(String found, String content) throws IOException {
        for (String name : List.of("c.txt", "c.jsonl")) {
            assertRefused(write(name, Base64.getDecoder().decode(content)), "at byte 0: found " + found
                    + ", expected text in UTF-8, plain or packed by gzip or zstd");
        }
        assertRefused(write("c.txt.gz", gzipped(Base64.getDecoder().decode(content))), "at byte 0: found " + found);
    }

    @Test
    void textInUtf16IsRefusedWithAndWithoutItsMark() throws IOException {
        assertRefused(write("marked.txt", LINE.getBytes(UTF_16)), "at byte 0: found text in UTF-16, expected UTF-8;"
                + " convert it with 'iconv -f UTF-16 -t UTF-8'");
        assertRefused(write("wide.txt", LINE.getBytes(Charset.forName("UTF-32LE"))), "at byte 1: found ");
        assertRefused(write("plain.txt", LINE.getBytes(UTF_16LE)), "at byte 1: found ");
    }

    @Test
    void aLineInLatin1IsABadRecordThatMayBeSkipped() throws IOException {
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        lines.write("first\n".getBytes(UTF_8));
        lines.write(LINE.getBytes(ISO_8859_1));
        lines.write("third\n".getBytes(UTF_8));
        Path file = write("latin1.txt", lines.toByteArray());
        CommandRun tokenized = CommandRun.of("tokenize", file, "-o", folder.resolve("store"));
        assertEquals("penstock: " + file + ": at byte 7: found byte 0xfc, expected UTF-8\n", tokenized.err());
        CommandRun streamed = batches(file);
        assertEquals(3, streamed.exitCode());
        assertTrue(streamed.err().contains("at byte 1 of the record: found byte 0xfc, expected UTF-8"), streamed.err());
        assertEquals(batches(write("two.txt", "first\nthird\n".getBytes(UTF_8))).out(),
                batches(file, "--bad-samples", "skip").out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.txt", "a.jsonl"})
    void aByteOrderMarkAndAMissingEndingOfGzipChangeNoToken(String name) throws IOException {
        String text = name.endsWith(".txt") ? LINE : "{\"text\": \"" + LINE.strip() + "\"}\n{\"text\": \"two\"}\n";
        byte[] plain = text.getBytes(UTF_8);
        byte[] marked = ("\uFEFF" + text).getBytes(UTF_8);
        String expected = batches(write(name, plain)).out();
        assertTrue(expected.contains("sha256"), expected);
        byte[] tokens = tokens(folder.resolve(name));
        for (byte[] content : List.of(marked, gzipped(plain), gzipped(marked))) {
            Path file = write(name, content);
            CommandRun streamed = batches(file);
            assertEquals(expected, streamed.out(), streamed.err());
            assertArrayEquals(tokens, tokens(file));
        }
    }

    @Test
    void marksWithinJoinedFilesOfLinesAreSkipped() throws IOException {
        String line = "{\"text\": \"two\"}\n";
        Path file = write("joined.jsonl", ("\uFEFF" + line + "\uFEFF" + line).getBytes(UTF_8));
        byte[] tokens = tokens(file);
        String streamed = batches(file).out();
        Path plain = write("joined.jsonl", (line + line).getBytes(UTF_8));
        assertArrayEquals(tokens(plain), tokens);
        assertEquals(batches(plain).out(), streamed);
    }

    private byte[] tokens(Path file) throws IOException {
        Path store = folder.resolve("tokens");
        CommandRun run = CommandRun.of("tokenize", file, "-o", store, "--force");
        assertEquals(0, run.exitCode(), run.err());
        return Files.readAllBytes(folder.resolve("tokens.bin"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "[{\"text\": \"a\"}] | at line 1: found an array, expected a JSON object: one a line, as 'jq -c .[]' writes",
        "[\\n {\"text\": \"a\"}\\n] | at line 1: found an array, expected a JSON object: one a line, as 'jq -c .[]'",
        "{\\n \"text\": \"a\"\\n} | at line 1: found an object of several lines, expected a JSON object: one a line"})
    void jsonThatIsNotOneObjectALineIsRefusedInWords(String json, String problem) throws IOException {
        Path file = write("corpus.json", json.replace("\\n", "\n").getBytes(UTF_8));
        CommandRun tokenized = CommandRun.of("tokenize", file, "-o", folder.resolve("store"));
        assertEquals(3, tokenized.exitCode());
        assertTrue(tokenized.err().startsWith("penstock: " + file + ": " + problem), tokenized.err());
        CommandRun streamed = batches(file);
        assertEquals(3, streamed.exitCode());
        assertTrue(streamed.err().contains(problem.substring("at line 1: ".length())), streamed.err());
    }
}
