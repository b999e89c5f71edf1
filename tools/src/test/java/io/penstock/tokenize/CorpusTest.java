// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.codec.decoder.Compression;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.DecodeLimit;
import io.penstock.json.FieldScanner;
import io.penstock.json.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CorpusTest {

    @TempDir
    Path folder;

    @Test
    void readsTheDocumentsOfEveryJsonLinesFile() throws IOException {
        for (Map<String, Object> entry : Corpora.entries("jsonl", "read")) {
            Map<String, Object> truth = Json.object(entry.get("jsonl"));
            for (int chunkBytes : new int[] {16, 1000, 1 << 18}) {
                List<String> documents = texts(Corpora.file((String) entry.get("path")), chunkBytes);
                assertEquals(truth.get("documents"), (long) documents.size(), () -> "documents of " + entry.get("id"));
                assertEquals(truth.get("record_digest"), recordDigest(documents), () -> "texts of " + entry.get("id"));
            }
        }
    }

    @Test
    void packsTheDocumentsOfEveryJsonLinesFileAsTheReferenceDoes() throws Exception {
        for (Map<String, Object> entry : Corpora.entries("jsonl", "read")) {
            Map<String, Object> packed = Json.object(entry.get("packed_tokens"));
            for (String encoding : List.of("gpt2", "cl100k_base")) {
                Map<String, Object> truth = Json.object(packed.get(encoding));
                int[] tokens = Corpora.encode(List.of(Corpora.file((String) entry.get("path"))), encoding, true, 2,
                        CorpusReader.CHUNK_BYTES).tokens().toArray();
                assertEquals(truth.get("count"), (long) tokens.length, () -> "count of " + entry.get("id"));
                assertEquals(truth.get("sha256"), sha256(tokens, (String) truth.get("dtype")),
                        () -> encoding + " tokens of " + entry.get("id"));
            }
        }
    }

    @Test
    void encodesEveryTextFileAsOneDocumentWithoutItsByteOrderMark() throws Exception {
        for (Map<String, Object> entry : Corpora.entries("text", "read")) {
            String key = entry.containsKey("tokens_without_bom") ? "tokens_without_bom" : "tokens";
            Map<String, Object> truth = Json.object(Json.object(entry.get(key)).get("cl100k_base"));
            Corpora.Documents documents = Corpora.encode(List.of(Corpora.file((String) entry.get("path"))),
                    "cl100k_base", false, 2, 4096);
            assertEquals(1, documents.documents.size(), () -> "documents of " + entry.get("id"));
            assertEquals(truth.get("count"), documents.tokens().count(), () -> "count of " + entry.get("id"));
            if (truth.containsKey("sha256_u32le")) {
                assertEquals(truth.get("sha256_u32le"), Corpora.sha256U32(documents.tokens()),
                        () -> "tokens of " + entry.get("id"));
            }
        }
    }

    @Tag("slow")
    @Test
    void hasTheSameTokensForAnyThreadsAndChunks() throws Exception {
        List<Path> inputs = List.of(Corpora.file("text/corpus.txt"), Corpora.file("jsonl/docs.jsonl"),
                Corpora.file("text/empty.txt"), Corpora.file("text/long_line.txt"),
                Corpora.file("jsonl/docs.jsonl.gz"));
        Corpora.Documents expected = Corpora.encode(inputs, "gpt2", true, 1, 1 << 20);
        assertEquals(163, expected.documents.size());
        for (int threads : new int[] {1, 2, 7}) {
            for (int chunkBytes : new int[] {700, 20_000, 1 << 18}) {
                Corpora.Documents actual = Corpora.encode(inputs, "gpt2", true, threads, chunkBytes);
                assertArrayEquals(expected.documents.toArray(), actual.documents.toArray(),
                        () -> threads + " threads, chunks of " + chunkBytes);
            }
        }
    }

    @Test
    void rejectsTextThatIsNotUtf8AtItsFirstBadByte() throws IOException {
        for (Map<String, Object> entry : Corpora.entries("text", "reject")) {
            Path file = Corpora.file((String) entry.get("path"));
            for (int chunkBytes : new int[] {8, 64, 1 << 18}) {
                Exception e = assertThrows(MalformedStoreException.class, () -> texts(file, chunkBytes));
                String place = file + ": at byte " + entry.get("error_offset");
                assertTrue(e.getMessage().startsWith(place + ": found byte 0x"), e.getMessage());
            }
        }
    }

    @Test
    void keepsAReplacementCharacterThatIsInTheText() throws IOException {
        Path file = write("a.txt", "one \uFFFD two");
        assertEquals(List.of("one \uFFFD two"), texts(file, 1 << 18));
    }

    @Test
    void rejectsABadLineByItsNumber() throws IOException {
        for (Map<String, Object> entry : Corpora.entries("jsonl", "reject")) {
            Path file = Corpora.file((String) entry.get("path"));
            for (int chunkBytes : new int[] {16, 5000, 1 << 18}) {
                Exception e = assertThrows(MalformedStoreException.class, () -> texts(file, chunkBytes));
                String place = file + ": at line " + entry.get("bad_line");
                assertTrue(e.getMessage().startsWith(place + ": "), e.getMessage());
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "[1]                    | at line 1: found an array, expected a JSON object",
        "\"text\"               | at line 1: found 'text', expected a JSON object",
        "{\"text\": 5}          | at line 1: field 'text': found 5, expected a string",
        "{\"text\": null}       | at line 1: field 'text': found null, expected a string",
        "{\"body\": 1, \"n\": 2} | at line 1: no field 'text', found ['body', 'n']",
        "{\"text\": \"a\"} x    | at line 1: not JSON: at byte 14 of the line: found 'x', expected the end",
        "{\"text\": \"\\ud800\"} | at line 1: not JSON: at byte 10 of the line:"})
    void saysWhatIsWrongWithALine(String line, String problem) throws IOException {
        Path file = write("a.jsonl", line + "\n");
        Exception e = assertThrows(MalformedStoreException.class, () -> texts(file, 1 << 18));
        assertTrue(e.getMessage().startsWith(file + ": " + problem), e.getMessage());
    }

    @Test
    void rejectsALineThatIsNotUtf8() throws IOException {
        Path file = folder.resolve("latin1.jsonl");
        Files.write(file, new byte[] {'{', '}', '\n', '"', (byte) 0xE4, '"', '\n'});
        Exception e = assertThrows(MalformedStoreException.class, () -> texts(file, 1 << 18));
        assertTrue(e.getMessage().startsWith(file + ": at line 1: no field"), e.getMessage());
        Files.write(file, new byte[] {'\n', '"', (byte) 0xE4, '"', '\n'});
        e = assertThrows(MalformedStoreException.class, () -> texts(file, 1 << 18));
        assertTrue(e.getMessage().startsWith(file + ": at line 2: not JSON: at byte 1 of the line: "), e.getMessage());
    }

    @Test
    void keepsEmptyDocuments() throws Exception {
        Path lines = write("a.jsonl", "\uFEFF{\"text\": \"\"}\n\n  \r\n{\"text\": \"x\"}\r\n{\"text\": \"\"}");
        List<Path> inputs = List.of(write("empty.txt", ""), lines);
        Corpora.Documents documents = Corpora.encode(inputs, "gpt2", false, 1, 64);
        assertArrayEquals(new int[][] {{}, {}, {87}, {}}, documents.documents.toArray());
        documents = Corpora.encode(inputs, "gpt2", true, 1, 64);
        assertArrayEquals(new int[][] {{50256}, {50256}, {87, 50256}, {50256}}, documents.documents.toArray());
    }

    @Test
    void encodesALongDocumentWithinALine() throws Exception {
        String text = Files.readString(Corpora.file("text/corpus.txt"));
        Path file = write("long.jsonl", Json.write(Map.of("text", text)));
        assertArrayEquals(Corpora.tokenizer("o200k_base").encode(text),
                Corpora.encode(List.of(file), "o200k_base", false, 1, 1 << 18).tokens().toArray());
    }

    @Test
    void walksAFolderInTheOrderOfBytesWithoutWhatIsHidden() throws IOException {
        List<String> all =
                List.of("b.txt", "a/z.md", "a.txt", "B.txt", ".hidden", ".git/config", "é.txt", "a/.x/y.txt");
        for (String name : all) {
            Files.createDirectories(folder.resolve(name).getParent());
            Files.writeString(folder.resolve(name), "");
        }
        List<String> names = CorpusListing.of(List.of(folder), false).files().stream()
                .map(file -> folder.relativize(file.path()).toString()).toList();
        assertEquals(List.of("B.txt", "a.txt", "a/z.md", "b.txt", "é.txt"), names);
    }

    @ParameterizedTest
    @CsvSource({"a.txt, TEXT, NONE", "a, TEXT, NONE", "a.md.gz, TEXT, GZIP", "a.JSONL, JSON_LINES, NONE",
        "a.json.zst, JSON_LINES, ZSTD", "a.ndjson.gz, JSON_LINES, GZIP", "jsonl, TEXT, NONE", "a.gz, TEXT, GZIP"})
    void readsTheFormatOffTheName(String name, CorpusFile.Format format, Compression compression)
            throws IOException {
        CorpusFile file = CorpusFile.of(write(name, "text"));
        assertEquals(format, file.format());
        assertEquals(compression, file.compression());
        assertEquals(4, file.storedBytes());
    }

    @Test
    void namesWhatIsMissing() throws IOException {
        Path missing = folder.resolve("missing.txt");
        Exception e = assertThrows(MalformedStoreException.class, () -> CorpusListing.of(List.of(missing), false));
        assertEquals(missing + ": no such file or folder", e.getMessage());
        e = assertThrows(MalformedStoreException.class, () -> CorpusListing.of(List.of(folder), false));
        assertEquals(folder + ": found no files in this folder", e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"docs.jsonl.gz", "docs.jsonl.zst"})
    void rejectsAPackedFileThatIsCutAnywhere(String name) throws IOException {
        byte[] whole = Files.readAllBytes(Corpora.file("jsonl/" + name));
        Path cut = folder.resolve(name);
        for (int length : new int[] {0, 3, 9, 11, 1000, whole.length / 2, whole.length - 9, whole.length - 1}) {
            Files.write(cut, Arrays.copyOf(whole, length));
            Exception e = assertThrows(MalformedStoreException.class, () -> texts(cut, 4096), () -> "cut to " + length);
            assertTrue(e.getMessage().startsWith(cut + ": "), e.getMessage());
        }
    }

    @Test
    void rejectsAPackedFileThatIsSomethingElse() throws IOException {
        for (String name : List.of("a.txt.gz", "a.txt.zst")) {
            Path file = write(name, "plain text, not packed at all");
            Exception e = assertThrows(MalformedStoreException.class, () -> texts(file, 4096));
            assertTrue(e.getMessage().contains("at byte 0"), e.getMessage());
            assertTrue(e.getMessage().endsWith("(after 0 unpacked bytes)"), e.getMessage());
        }
    }

    @Test
    void readsAGzipFileOfSeveralMembers() throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        for (String part : List.of("one ", "two ", "three")) {
            try (OutputStream member = new GZIPOutputStream(packed)) {
                member.write(part.getBytes(UTF_8));
            }
        }
        Path file = folder.resolve("a.txt.gz");
        Files.write(file, packed.toByteArray());
        assertEquals(List.of("one two three"), texts(file, 4096));
    }

    /** What {@code gzip} and Python made of each file: see DamagedPackedTest. */
    @Test
    void aDamagedGzipFileNeverGivesLessText() throws IOException {
        Path packed = Path.of("src/test/resources/packed");
        byte[] whole = Files.readAllBytes(packed.resolve("text.gz"));
        Path file = folder.resolve("text.txt.gz");
        Files.write(file, whole);
        List<String> expected = texts(file, 4096);
        String verdicts = Files.readAllLines(packed.resolve("text.gz.verdicts")).get(1);
        for (int at = 0; at < whole.length; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= 1;
            Files.write(file, damaged);
            if (verdicts.charAt("01 ".length() + at) == 's') {
                assertEquals(expected, texts(file, 4096), "byte " + at);
            } else {
                Exception e = assertThrows(MalformedStoreException.class, () -> texts(file, 4096), "byte " + at);
                assertTrue(e.getMessage().startsWith(file + ": gzip: at byte "), e.getMessage());
            }
        }
    }

    @Test
    void refusesAWordOrLineWithoutEnd() throws IOException {
        Path word = write("word.txt", "x".repeat(5000));
        Exception e = assertThrows(MalformedStoreException.class, () -> read(reader(word, 64, 4096), "text"));
        assertEquals(word + ": at byte 0: found a word longer than 4096 bytes, expected text", e.getMessage());
        Path line = write("line.jsonl", "{}\n" + "x".repeat(5000));
        e = assertThrows(MalformedStoreException.class, () -> read(reader(line, 64, 4096), "text"));
        assertTrue(e.getMessage().startsWith(line + ": at "), e.getMessage());
    }

    @Test
    void reportsTheFirstErrorInTheOrderOfTheCorpus() throws IOException {
        Path first = write("1.jsonl", "{\"text\": \"" + "word ".repeat(200_000) + "\"}\n{\n");
        Path second = Corpora.file("text/reject_latin1.txt");
        Path third = write("3.txt.gz", "not packed");
        for (int run = 0; run < 10; run++) {
            Exception e = assertThrows(MalformedStoreException.class,
                    () -> Corpora.encode(List.of(first, second, third), "gpt2", false, 3, 4096));
            assertTrue(e.getMessage().startsWith(first + ": at line 2: "), e.getMessage());
        }
    }

    private Path write(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.writeString(file, text);
        return file;
    }

    private static List<String> texts(Path file, int chunkBytes) throws IOException {
        return read(reader(file, chunkBytes, 16 << 20), "text");
    }

    private static CorpusReader reader(Path file, int chunkBytes, int maxBytes) throws IOException {
        return new CorpusReader(CorpusListing.of(List.of(file), false).files(), DecodeLimit.DEFAULT, chunkBytes,
                maxBytes, maxBytes);
    }

    private static List<String> read(CorpusReader corpus, String field) throws IOException {
        List<String> documents = new ArrayList<>();
        StringBuilder open = new StringBuilder();
        FieldScanner scanner = new FieldScanner(field);
        try (CorpusReader reader = corpus) {
            Chunk chunk = new Chunk(16);
            while (reader.next(chunk)) {
                chunk.decode(field, scanner, (utf8, from, length, endsDocument) -> {
                    open.append(new String(utf8, from, length, UTF_8));
                    if (endsDocument) {
                        documents.add(open.toString());
                        open.setLength(0);
                    }
                });
            }
        }
        return documents;
    }

    /** The digest of MANIFEST.json over records with empty keys. */
    private static String recordDigest(List<String> documents) {
        ByteArrayOutputStream records = new ByteArrayOutputStream();
        for (String document : documents) {
            byte[] text = document.getBytes(UTF_8);
            ByteBuffer lengths = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putInt(0).putInt(text.length);
            records.writeBytes(lengths.array());
            records.writeBytes(text);
        }
        return Corpora.sha256(records.toByteArray());
    }

    private static String sha256(int[] tokens, String dtype) {
        boolean narrow = dtype.equals("<u2");
        ByteBuffer bytes = ByteBuffer.allocate(tokens.length * (narrow ? 2 : 4)).order(ByteOrder.LITTLE_ENDIAN);
        for (int token : tokens) {
            if (narrow) {
                bytes.putShort((short) token);
            } else {
                bytes.putInt(token);
            }
        }
        return Corpora.sha256(bytes.array());
    }
}
