// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.io.publish.DecodedCache;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an index says of the footers of a folder is what they say, and a file that is another one is named. */
class FooterIndexTest {

    private static final int FILES = FooterIndex.WORTH_FILES + 6;

    @TempDir
    Path parent;
    private Path folder;
    private Path index;

    @BeforeEach
    void writeFiles() throws IOException {
        folder = Files.createDirectory(parent.resolve("clicks"));
        index = parent.resolve("clicks.penstock-footers");
        for (int i = 0; i < FILES; i++) {
            oneRow(file(i), 100 + i);
        }
    }

    private Path file(int number) {
        return folder.resolve(String.format("part-%03d.parquet", number));
    }

    private static void oneRow(Path file, int... values) throws IOException {
        new ParquetBytes(values.length, values.length).page(values.length, Encoding.PLAIN, ParquetBytes.ints(values))
                .write(file);
    }

    private ParquetStore open() throws IOException {
        Location location = Location.of(folder);
        return ParquetStore.open(location, null, DecodeLimit.DEFAULT,
                new DecodedCache(location, location, 1 << 20, DecodedCache.Spilling.NEVER));
    }

    private static int value(ParquetStore store, long row) {
        Span span = new Span();
        store.locate(row, 0, span);
        return span.slice().get(LittleEndian.I32, 0);
    }

    private int[] values() throws IOException {
        try (ParquetStore store = open()) {
            return IntStream.range(0, (int) store.size()).map(row -> value(store, row)).toArray();
        }
    }

    /** Changes a file but not its size, its time or its identity. */
    private static void overwrite(Path file, byte[] bytes) throws IOException {
        FileTime time = Files.readAttributes(file, BasicFileAttributes.class).lastModifiedTime();
        assertEquals(Files.size(file), bytes.length);
        Files.write(file, bytes);
        Files.setLastModifiedTime(file, time);
    }

    @Test
    void theSecondOpenReadsTheFirstFileOfEachSchemaOnly() throws IOException {
        int[] expected = IntStream.range(100, 100 + FILES).toArray();
        assertArrayEquals(expected, values());
        assertTrue(Files.exists(index));
        for (int i = 1; i < FILES; i++) {
            overwrite(file(i), new byte[(int) Files.size(file(i))]);
        }
        try (ParquetStore store = open()) {
            assertEquals(FILES, store.size());
            assertEquals(100, value(store, 0));
            String message = assertThrows(RuntimeException.class, () -> value(store, 40)).getMessage();
            assertTrue(message.contains("part-040.parquet"), message);
        }
    }

    @Test
    void aFileThatIsAddedReplacedOrRemovedIsSeenAtTheNextOpen() throws IOException {
        assertEquals(FILES, values().length);
        oneRow(file(FILES), 7, 8);
        oneRow(file(3), 9, 10, 11);
        Files.delete(file(5));
        int[] expected = IntStream.rangeClosed(0, FILES).boxed().flatMap(i -> (i == 3 ? IntStream.of(9, 10, 11)
                : i == 5 ? IntStream.empty() : i == FILES ? IntStream.of(7, 8) : IntStream.of(100 + i)).boxed())
                .mapToInt(Integer::intValue).toArray();
        assertArrayEquals(expected, values());
        byte[] renewed = Files.readAllBytes(index);
        assertArrayEquals(expected, values());
        assertArrayEquals(renewed, Files.readAllBytes(index));
    }

    @Test
    void aFileThatIsReplacedCutOrRemovedBetweenOpeningAndReadingIsNamed() throws IOException {
        assertEquals(FILES, values().length);
        try (ParquetStore store = open()) {
            Files.delete(file(10));
            Files.write(file(20), new byte[10]);
            oneRow(parent.resolve("other"), 1, 2, 3);
            Files.move(parent.resolve("other"), file(30), StandardCopyOption.REPLACE_EXISTING);
            assertNamed(store, 10, "found no such file");
            assertNamed(store, 20, "which are fewer");
            assertNamed(store, 30, "the file of");
            assertEquals(140, value(store, 40));
        }
    }

    private static void assertNamed(ParquetStore store, int row, String words) {
        String message = assertThrows(RuntimeException.class, () -> value(store, row)).getMessage();
        assertTrue(message.contains("part-0" + row + ".parquet") && message.contains(words), message);
    }

    @Test
    void anIndexThatIsDamagedAnywhereIsWrittenAgain() throws IOException {
        int[] expected = values();
        byte[] whole = Files.readAllBytes(index);
        for (int at = 0; at < whole.length; at += Math.max(1, whole.length / 60)) {
            byte[] damaged = whole.clone();
            damaged[at] ^= 0x41;
            Files.write(index, damaged);
            assertArrayEquals(expected, values(), "byte " + at);
            assertArrayEquals(whole, Files.readAllBytes(index), "byte " + at);
            Files.write(index, Arrays.copyOf(whole, at));
            assertArrayEquals(expected, values(), "cut at byte " + at);
        }
    }

    @Test
    void anIndexThatSaysOtherRowsThanAFileHasIsAnError() throws IOException {
        try (ParquetStore _ = open(); ParquetFiles files = new ParquetFiles(DecodeLimit.DEFAULT, false)) {
            files.addAll(Location.of(folder), IntStream.range(0, FILES).mapToObj(i -> Location.of(file(i))).toList());
            var parts = new ArrayList<>(files.parts());
            ParquetPart right = parts.get(60);
            parts.set(60, new ParquetPart(right.location(), new FooterIndex.Entry(0, right.byteSize(),
                    right.version(), new long[] {2}), right.schema()));
            FooterIndex.write(index, Location.of(folder), parts, "");
        }
        try (ParquetStore store = open()) {
            assertEquals(FILES + 1, store.size());
            String message = assertThrows(RuntimeException.class, () -> value(store, 60)).getMessage();
            assertTrue(message.contains("part-060.parquet") && message.contains("penstock-footers"), message);
        }
    }

    @Test
    void theFingerprintIsThatOfTheFilesWhetherTheIndexHasItOrNot() throws IOException {
        String first;
        try (ParquetStore store = open()) {
            first = store.fingerprint();
        }
        try (ParquetStore store = open()) {
            assertEquals(first, store.fingerprint());
        }
        Files.delete(index);
        try (ParquetStore store = open()) {
            assertEquals(first, store.fingerprint());
        }
        oneRow(file(1), 3);
        try (ParquetStore store = open()) {
            assertNotEquals(first, store.fingerprint());
        }
    }

    @Test
    void aFolderOfFewFilesHasNoIndex() throws IOException {
        for (int i = FooterIndex.WORTH_FILES - 1; i < FILES; i++) {
            Files.delete(file(i));
        }
        assertEquals(FooterIndex.WORTH_FILES - 1, values().length);
        assertFalse(Files.exists(index));
    }
}
