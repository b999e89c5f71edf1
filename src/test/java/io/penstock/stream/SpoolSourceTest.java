// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.StackAndPad;
import io.penstock.error.MalformedStoreException;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.state.LoaderState;
import io.penstock.stream.PartitionReader.Found;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records that come only once are kept on disk, and a run continues exactly. */
class SpoolSourceTest {

    private static final long MOST = 1 << 20;

    @TempDir
    private Path folder;
    /** What comes only once: whoever reads takes the next number. */
    private final Iterator<MemorySegment> numbers = LongStream.iterate(0, n -> n + 1)
            .mapToObj(n -> MemorySegment.ofArray(new long[] {n})).iterator();

    private SpoolSource source() {
        return new SpoolSource(StreamSource.once("numbers", numbers), folder.resolve("spool"), MOST);
    }

    private static String poll(PartitionReader reader, RecordBuffer into) throws IOException {
        into.clear();
        Found found = reader.poll(into);
        return found == Found.RECORD ? new String(into.record(0).toArray(JAVA_BYTE), StandardCharsets.UTF_8)
                : found.toString();
    }

    private static StreamSource texts(String... texts) {
        return StreamSource.once("texts", Stream.of(texts)
                .map(text -> MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8))).iterator());
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("spool").resolve("0"))) {
            return files.filter(file -> file.toString().endsWith(".spool")).sorted().toList();
        }
    }

    @Test
    void stoppedAndResumedAnywhereNoRecordIsLostOrGivenTwice() {
        stopAndResume(20);
    }

    @Test
    @Tag("slow")
    void stoppedAndResumedTwoHundredTimes() {
        stopAndResume(200);
    }

    private void stopAndResume(int stops) {
        var random = new Random(18);
        List<Long> given = new ArrayList<>();
        LoaderState state = null;
        for (int run = 0; run < stops; run++) {
            try (StreamDataset stream = StreamDataset.builder(source()).field("n", DType.I64, 1).shuffle(7, 37)
                    .open()) {
                DataLoaderBuilder builder = DataLoader.builder(stream).batchSize(1 + random.nextInt(20))
                        .workers(random.nextInt(3));
                try (DataLoader loader = (state == null ? builder
                        : builder.resume(LoaderState.fromJson(state.toJson()))).open()) {
                    for (int batches = random.nextInt(5); batches > 0; batches--) {
                        try (Batch batch = loader.next()) {
                            Tensor n = batch.tensor("n");
                            for (int row = 0; row < batch.count(); row++) {
                                given.add(n.getLong(row));
                            }
                        }
                    }
                    state = loader.state();
                }
            }
        }
        int whole = given.size() / 37 * 37;
        for (int from = 0; from < whole; from += 37) {
            assertEquals(new HashSet<>(LongStream.range(from, from + 37).boxed().toList()),
                    new HashSet<>(given.subList(from, from + 37)));
        }
    }

    @Test
    void whatWasBeingWrittenWhenAProcessEndedIsCutOff() throws IOException {
        var begun = new SpoolSource(texts("one", "two", "three"), folder.resolve("spool"), MOST);
        String behindTwo;
        try (PartitionReader reader = begun.open(0, ""); RecordBuffer into = new RecordBuffer()) {
            poll(reader, into);
            assertEquals("two", poll(reader, into));
            behindTwo = reader.cursor();
            assertEquals("three", poll(reader, into));
        }
        assertEquals("22", behindTwo);
        Path file = files().getFirst();
        byte[] whole = Files.readAllBytes(file);
        assertEquals(35, whole.length);
        for (int length : new int[] {22, 23, 29, 30, 31, 34, 35}) {
            for (int flipped : new int[] {-1, 24, 29, 33}) {
                byte[] torn = Arrays.copyOf(whole, length);
                if (flipped >= length) {
                    continue;
                }
                if (flipped >= 0) {
                    torn[flipped] ^= 0x10;
                }
                Files.write(file, torn);
                var again = new SpoolSource(texts("four"), folder.resolve("spool"), MOST);
                try (PartitionReader reader = again.open(0, behindTwo); RecordBuffer into = new RecordBuffer()) {
                    if (length == 35 && flipped < 0) {
                        assertEquals("three", poll(reader, into));
                    }
                    assertEquals("four", poll(reader, into));
                    assertEquals("END", poll(reader, into));
                }
                try (PartitionReader reader = new SpoolSource(texts(), folder.resolve("spool"), MOST).open(0, "");
                        RecordBuffer into = new RecordBuffer()) {
                    assertEquals("one", poll(reader, into));
                    assertEquals("two", poll(reader, into));
                }
            }
        }
    }

    @Test
    void recordsThatWereDamagedOnDiskAreRefused() throws IOException {
        try (PartitionReader reader = source().open(0, ""); RecordBuffer into = new RecordBuffer()) {
            for (int i = 0; i < 30_000; i++) {
                into.clear();
                reader.poll(into);
                if (i % 1000 == 0) {
                    reader.keep();
                }
            }
        }
        List<Path> files = files();
        assertTrue(files.size() > 2, files.toString());
        byte[] bytes = Files.readAllBytes(files.getFirst());
        bytes[16 * 100 + 12] ^= 1;
        Files.write(files.getFirst(), bytes);
        try (PartitionReader reader = source().open(0, ""); RecordBuffer into = new RecordBuffer()) {
            String message = assertThrows(MalformedStoreException.class, () -> {
                for (int i = 0; i < 30_000; i++) {
                    reader.poll(into);
                }
            }).getMessage();
            assertTrue(message.startsWith(files.getFirst() + ": at byte 1600: a checksum of "), message);
            assertEquals(100, into.count());
        }
    }

    @Test
    void theOldestRecordsAreDeletedBeyondTheMostBytesAndStatesThatNeedThemAreRefused() throws IOException {
        String early = "";
        try (PartitionReader reader = source().open(0, ""); RecordBuffer into = new RecordBuffer()) {
            for (int i = 0; i < 200_000; i++) {
                into.clear();
                reader.poll(into);
                if (i % 1000 == 0) {
                    early = early.isEmpty() ? reader.cursor() : early;
                    reader.keep();
                }
            }
        }
        long bytes = 0;
        for (Path file : files()) {
            bytes += Files.size(file);
        }
        assertTrue(bytes <= MOST + 16_000 && bytes > MOST / 2, bytes + " bytes");
        String needed = early;
        String message = assertThrows(IOException.class, () -> source().open(0, needed)).getMessage();
        assertTrue(message.contains("of the spool, expected byte 16, where the saved state continues"), message);
        assertThrows(IOException.class, () -> source().open(0, "3200001"));
        assertThrows(IOException.class, () -> source().open(0, "x"));
        try (PartitionReader reader = source().open(0, ""); RecordBuffer into = new RecordBuffer()) {
            long first = Long.parseLong(files().getFirst().getFileName().toString().replace(".spool", "")) / 16;
            for (long n = first; n < 200_010; n++) {
                into.clear();
                assertEquals(Found.RECORD, reader.poll(into));
                assertEquals(n, into.record(0).get(JAVA_LONG_UNALIGNED, 0));
            }
        }
    }

    @Test
    void aSecondReaderOfASpoolIsRefused() throws IOException {
        try (PartitionReader reader = source().open(0, "")) {
            assertTrue(assertThrows(IOException.class, () -> source().open(0, "")).getMessage()
                    .contains("another writer"));
            assertEquals("0", reader.cursor());
        }
        source().open(0, "").close();
        assertThrows(IllegalArgumentException.class, () -> new SpoolSource(texts(), folder, 1));
    }

    @Test
    void aCommandThatFailsIsAnErrorAndWhatItWroteIsKept() {
        StreamSource command = LineSource.command("sh", "-c", "echo one; echo two; exit 3");
        try (StreamDataset stream = lines(command); DataLoader loader = loader(stream)) {
            String message = assertThrows(RuntimeException.class, () -> {
                while (loader.hasNext()) {
                    loader.next().close();
                }
            }).getMessage();
            assertTrue(message.contains("found exit status 3, expected 0"), message);
        }
        try (StreamDataset stream = lines(LineSource.command("true")); DataLoader loader = loader(stream);
                Batch batch = loader.next()) {
            assertEquals(2, batch.count());
        }
    }

    private StreamDataset lines(StreamSource source) {
        return StreamDataset.builder(new SpoolSource(source, folder.resolve("spool"), MOST)).field("line").open();
    }

    private static DataLoader loader(StreamDataset stream) {
        return DataLoader.builder(stream).collator(StackAndPad.cutTo(3)).batchSize(2).open();
    }
}
