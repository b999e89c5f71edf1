// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.CodecException;
import io.penstock.stream.PartitionReader.Found;
import io.penstock.stream.StreamSource.StreamEnd;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files read line by line. */
class LineSourceTest {

    private static final String LONG = "x".repeat(200_000);
    private static final List<String> LINES = List.of("first", "{\"text\": \"zwölf\"}", LONG, "last but one", "last");
    private static final String TEXT = "first\r\n\n" + LINES.get(1) + "\n\r\n" + LONG + "\nlast but one\nlast";

    @TempDir
    private Path folder;

    private static String poll(PartitionReader reader, RecordBuffer into) throws IOException {
        into.clear();
        Found found = reader.poll(into);
        return found == Found.RECORD ? new String(into.record(0).toArray(JAVA_BYTE), StandardCharsets.UTF_8)
                : found.toString();
    }

    private static List<String> read(LineSource source, String cursor) throws IOException {
        List<String> lines = new ArrayList<>();
        try (PartitionReader reader = source.open(0, cursor); RecordBuffer into = new RecordBuffer()) {
            for (String line = poll(reader, into); !line.equals("END"); line = poll(reader, into)) {
                lines.add(line);
            }
        }
        return lines;
    }

    private Path gzipped() throws IOException {
        Path file = folder.resolve("text.jsonl.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write(TEXT.getBytes(StandardCharsets.UTF_8));
        }
        return file;
    }

    @Test
    void linesAreReadFromAnyCursorToTheEndOfAPlainAndACompressedFile() throws IOException {
        for (Path file : List.of(Files.writeString(folder.resolve("text.jsonl"), TEXT), gzipped())) {
            LineSource source = LineSource.of(file);
            assertEquals(LINES, read(source, ""));
            try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer()) {
                for (int i = 0; i <= LINES.size(); i++) {
                    assertEquals(LINES.subList(i, LINES.size()), read(source, reader.cursor()));
                    poll(reader, into);
                }
            }
        }
    }

    @Test
    void aLineOfAGrowingFileIsReadWhenItIsComplete() throws IOException {
        Path file = Files.writeString(folder.resolve("feed.jsonl"), "one\ntw");
        try (PartitionReader reader = LineSource.growing(file).open(0, ""); RecordBuffer into = new RecordBuffer()) {
            assertEquals("one", poll(reader, into));
            assertEquals("NOTHING_YET", poll(reader, into));
            assertEquals("4", reader.cursor());
            Files.writeString(file, "o\nthree\n", StandardOpenOption.APPEND);
            assertEquals("two", poll(reader, into));
            assertEquals("three", poll(reader, into));
            assertEquals("NOTHING_YET", poll(reader, into));
        }
    }

    @Test
    void aByteOrderMarkThatArrivesInPiecesIsNoPartOfTheFirstLine() throws IOException {
        Path file = folder.resolve("feed.jsonl");
        Files.write(file, new byte[] {(byte) 0xEF});
        try (PartitionReader reader = LineSource.growing(file).open(0, ""); RecordBuffer into = new RecordBuffer()) {
            assertEquals("NOTHING_YET", poll(reader, into));
            Files.write(file, new byte[] {(byte) 0xBB, (byte) 0xBF}, StandardOpenOption.APPEND);
            Files.writeString(file, "one\n\uFEFFtwo\n", StandardOpenOption.APPEND);
            assertEquals("one", poll(reader, into));
            assertEquals("7", reader.cursor());
            assertEquals("\uFEFFtwo", poll(reader, into));
        }
        try (PartitionReader reader = LineSource.growing(file).open(0, "7"); RecordBuffer into = new RecordBuffer()) {
            assertEquals("\uFEFFtwo", poll(reader, into));
        }
    }

    @Test
    void compressedDataIsNoTextThatGrowsNorThatComesOnce() throws IOException {
        Path named = gzipped();
        Path file = Files.move(named, folder.resolve("text.jsonl"));
        assertEquals(LINES, read(LineSource.of(file), ""));
        String problem = ": at byte 0: found gzip data, expected text in UTF-8, plain or packed by gzip or zstd";
        try (PartitionReader reader = LineSource.growing(file).open(0, "");
                PartitionReader once = LineSource.once("pipe", Files.newInputStream(file)).open(0, "");
                RecordBuffer into = new RecordBuffer()) {
            assertEquals(file + problem, assertThrows(CodecException.class, () -> poll(reader, into)).getMessage());
            assertEquals("pipe" + problem, assertThrows(CodecException.class, () -> awaited(once, into)).getMessage());
        }
    }

    @Test
    void aGrowingFileThatIsCutOffOrReplacedIsAnError() throws IOException {
        Path file = folder.resolve("feed.jsonl");
        for (boolean isReplaced : new boolean[] {false, true}) {
            Files.writeString(file, "one\ntwo\nthr");
            try (PartitionReader reader = LineSource.growing(file).open(0, "");
                    RecordBuffer into = new RecordBuffer()) {
                assertEquals("one", poll(reader, into));
                assertEquals("two", poll(reader, into));
                assertEquals("NOTHING_YET", poll(reader, into));
                if (isReplaced) {
                    Files.move(file, folder.resolve("feed.jsonl.1"));
                    assertEquals("NOTHING_YET", poll(reader, into));
                }
                Files.writeString(file, "four\n");
                String message = assertThrows(IOException.class, () -> poll(reader, into)).getMessage();
                assertTrue(message.startsWith(file + ": found 5 bytes, expected at least the 11 "), message);
            }
        }
    }

    @Test
    void theLinesOfAProgramAreReadAndTheProgramEndsWithTheReader() throws Exception {
        try (PartitionReader reader = LineSource.command("seq", "3000").open(0, "");
                RecordBuffer into = new RecordBuffer()) {
            for (int i = 1; i <= 3000; i++) {
                assertEquals(Integer.toString(i), awaited(reader, into));
            }
            assertEquals("END", awaited(reader, into));
        }
        long number;
        try (PartitionReader reader = LineSource.command("sh", "-c", "echo $$; exec sleep 1000").open(0, "");
                RecordBuffer into = new RecordBuffer()) {
            number = Long.parseLong(awaited(reader, into));
            assertEquals("NOTHING_YET", poll(reader, into));
        }
        Optional<ProcessHandle> left = ProcessHandle.of(number);
        if (left.isPresent()) {
            left.get().onExit().get();
        }
        assertThrows(IOException.class, () -> LineSource.command("no such program").open(0, ""));
        assertThrows(IOException.class, () -> LineSource.command("seq", "3").open(0, "6"));
    }

    /** Polls until there is something. */
    private static String awaited(PartitionReader reader, RecordBuffer into) throws IOException {
        String found = poll(reader, into);
        while (found.equals("NOTHING_YET")) {
            Thread.onSpinWait();
            found = poll(reader, into);
        }
        return found;
    }

    @Test
    void theLinesOfAServerAreRead() throws Exception {
        StreamSource source;
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String name = "tcp://localhost:" + server.getLocalPort();
            source = StreamSource.open(name, StreamEnd.STOP);
            assertEquals(List.of(name), source.partitions());
            try (PartitionReader reader = source.open(0, ""); RecordBuffer into = new RecordBuffer();
                    Socket to = server.accept()) {
                assertEquals("NOTHING_YET", poll(reader, into));
                Thread sender = Thread.ofVirtual().start(() -> {
                    try (OutputStream out = to.getOutputStream()) {
                        out.write(TEXT.getBytes(StandardCharsets.UTF_8));
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
                for (String line : LINES) {
                    assertEquals(line, awaited(reader, into));
                }
                assertEquals("END", awaited(reader, into));
                sender.join();
            }
        }
        String message = assertThrows(IOException.class, () -> source.open(0, "")).getMessage();
        assertTrue(message.startsWith("localhost:") && message.contains(": cannot connect: "), message);
        assertThrows(IllegalArgumentException.class, () -> StreamSource.open("tcp://host", StreamEnd.STOP));
    }

    @Test
    void filesOfOneNameAreToldApartByTheirFolders() {
        assertEquals(List.of("x.txt", "y.txt"), LineSource.of(folder.resolve("a/x.txt"), folder.resolve("y.txt"))
                .partitions());
        assertEquals(List.of("1/a/x.txt", "2/a/x.txt", "2/b/y.txt"), LineSource.of(folder.resolve("1/a/x.txt"),
                folder.resolve("2/a/x.txt"), folder.resolve("2/b/y.txt")).partitions());
        assertThrows(IllegalArgumentException.class, () -> LineSource.of(folder.resolve("x"), folder.resolve("x")));
    }

    @Test
    void aFileThatIsShorterThanTheStateSaysIsNamed() throws IOException {
        for (Path file : List.of(Files.writeString(folder.resolve("text.jsonl"), TEXT), gzipped())) {
            var refused = assertThrows(IOException.class, () -> LineSource.of(file).open(0, "300000"));
            assertTrue(refused.getMessage().startsWith(file + ": found fewer bytes, expected at least the 300000"),
                    refused.getMessage());
            for (String cursor : List.of("x", "-1")) {
                var wrong = assertThrows(IOException.class, () -> LineSource.of(file).open(0, cursor));
                assertTrue(wrong.getMessage().contains("found cursor '" + cursor + "'"), wrong.getMessage());
            }
        }
    }

    @Test
    void aCompressedFileThatIsCutOffIsAnErrorAndNotAnEnd() throws IOException {
        Path file = gzipped();
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(whole, whole.length - 30));
        var failed = assertThrows(IOException.class, () -> read(LineSource.of(file), ""));
        assertTrue(failed.getMessage().startsWith(file.toString()), failed.getMessage());
        assertThrows(IllegalArgumentException.class, () -> LineSource.growing(file));
    }
}
