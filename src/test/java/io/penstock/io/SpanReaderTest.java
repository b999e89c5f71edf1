// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rows and runs of bytes, whatever their size and number, come out as they are in the file. */
class SpanReaderTest {

    private static final int FILE_BYTES = 300_001;
    /** Around a page's size, what is touched of a row, and beyond it. */
    private static final int[] ROW_BYTES = {0, 1, 2050, 4095, 4096, 4097, 12_288, 16_384, 16_385, 40_000};
    private static final byte GUARD = 90;

    @TempDir
    private Path folder;
    private byte[] content;

    private MappedFile file() throws IOException {
        content = new byte[FILE_BYTES];
        new SplittableRandom(3).nextBytes(content);
        return MappedFile.open(Files.write(folder.resolve("rows"), content));
    }

    @ParameterizedTest
    @EnumSource(ReadMode.class)
    void rowsOfEverySizeAndNumberAreCopiedUpToTheFilesLastByte(ReadMode mode) throws IOException {
        var random = new SplittableRandom(4);
        try (MappedFile file = file(); var reader = new SpanReader(mode); Arena arena = Arena.ofConfined()) {
            for (int rowBytes : ROW_BYTES) {
                long stride = Math.max(1, rowBytes / 3);
                long rows = (FILE_BYTES - rowBytes) / stride + 1;
                // The last row ends with the file.
                long offset = FILE_BYTES - rowBytes - (rows - 1) * stride;
                var all = new Rows(file, file.segment(), offset, stride, rowBytes, rows);
                for (int count = 0; count <= 20; count++) {
                    long[] indices = random.longs(count, 0, rows).toArray();
                    if (count > 0) {
                        indices[random.nextInt(count)] = rows - 1;
                    }
                    byte[] expected = new byte[count * rowBytes + 2];
                    expected[0] = expected[expected.length - 1] = GUARD;
                    for (int i = 0; i < count; i++) {
                        System.arraycopy(content, (int) all.offset(indices[i]), expected, 1 + i * rowBytes, rowBytes);
                    }
                    MemorySegment target = arena.allocate(expected.length).fill(GUARD);
                    reader.copyRows(all, indices, count, target, 1);
                    assertArrayEquals(expected, target.toArray(ValueLayout.JAVA_BYTE), count + " of " + rowBytes);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ReadMode.class)
    void runsOfMixedSizesAreCopiedUpToTheFilesLastByte(ReadMode mode) throws IOException {
        var random = new SplittableRandom(5);
        try (MappedFile file = file(); var reader = new SpanReader(mode); Arena arena = Arena.ofConfined()) {
            var any = new Span();
            any.set(file, 0, 1);
            for (int round = 0; round < 200; round++) {
                int count = random.nextInt(40);
                long[] sizes = random.ints(count, 0, ROW_BYTES.length).mapToLong(i -> ROW_BYTES[i]).toArray();
                long[] offsets = Arrays.stream(sizes).map(size -> random.nextInt(4) == 0 ? FILE_BYTES - size
                        : random.nextLong(FILE_BYTES - size + 1)).toArray();
                byte[] expected = new byte[(int) Arrays.stream(sizes).sum()];
                int at = 0;
                for (int i = 0; i < count; i++) {
                    System.arraycopy(content, (int) offsets[i], expected, at, (int) sizes[i]);
                    at += (int) sizes[i];
                }
                MemorySegment target = arena.allocate(Math.max(1, expected.length)).asSlice(0, expected.length);
                assertEquals(expected.length, reader.copyRuns(any, offsets, sizes, count, target, 0));
                assertArrayEquals(expected, target.toArray(ValueLayout.JAVA_BYTE));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ReadMode.class)
    void aRowThatThereIsNotIsRefusedAndNamed(ReadMode mode) throws IOException {
        try (MappedFile file = file(); var reader = new SpanReader(mode); Arena arena = Arena.ofConfined()) {
            var rows = new Rows(file, file.segment(), 0, 1000, 1000, 300);
            MemorySegment target = arena.allocate(20_000);
            for (long missing : new long[] {-1, 300, Long.MIN_VALUE, Long.MAX_VALUE}) {
                for (int place = 0; place < 10; place++) {
                    long[] indices = new long[10];
                    indices[place] = missing;
                    assertThrows(IndexOutOfBoundsException.class, () -> reader.copyRows(rows, indices, 10, target, 0));
                    assertEquals(place, reader.lastPiece());
                }
            }
            assertThrows(IndexOutOfBoundsException.class,
                    () -> reader.copyRows(rows, new long[10], 10, target, 10_001));
        }
    }

    @Test
    void aRunThatIsNotInTheFileIsRefused() throws IOException {
        try (MappedFile file = file(); var reader = new SpanReader(ReadMode.MMAP); Arena arena = Arena.ofConfined()) {
            var any = new Span();
            any.set(file, 0, 1);
            MemorySegment target = arena.allocate(100_000);
            for (long[] run : new long[][] {{-1, 10}, {FILE_BYTES - 9, 10}, {FILE_BYTES, 1},
                {FILE_BYTES - 4096, 9000}}) {
                assertThrows(IndexOutOfBoundsException.class, () -> reader.copyRuns(any, new long[] {0, run[0]},
                        new long[] {5, run[1]}, 2, target, 0));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ReadMode.class)
    void nothingIsReadOfAFileThatIsClosed(ReadMode mode) throws IOException {
        MappedFile file = file();
        try (var reader = new SpanReader(mode); Arena arena = Arena.ofConfined()) {
            var rows = new Rows(file, file.segment(), 0, 1000, 1000, 300);
            var any = new Span();
            any.set(file, 0, 1);
            MemorySegment target = arena.allocate(20_000);
            reader.copyRows(rows, new long[10], 10, target, 0);
            file.close();
            assertThrows(IllegalStateException.class, () -> reader.copyRows(rows, new long[10], 10, target, 0));
            assertThrows(IllegalStateException.class,
                    () -> reader.copyRuns(any, new long[1], new long[] {4096}, 1, target, 0));
        }
    }
}
