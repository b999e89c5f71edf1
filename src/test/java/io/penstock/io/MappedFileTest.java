// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.os.Posix;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MappedFileTest {

    private static final int SIZE = 1 << 20;

    @TempDir
    private Path folder;

    private Path random(int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new SplittableRandom(7).nextBytes(content);
        return Files.write(folder.resolve("data"), content);
    }

    @Test
    void aFileOfOver2GiBIsOneSegmentReadableAtItsEnd() throws IOException {
        Path path = folder.resolve("sparse");
        long size = (3L << 30) + 5;
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(size);
            file.seek(size - 2);
            file.write(new byte[] {17, 18});
            file.seek((1L << 31) - 1);
            file.write(new byte[] {19, 20});
        }
        try (MappedFile mapped = MappedFile.open(path); SpanReader reader = new SpanReader(ReadMode.PREAD);
                Arena arena = Arena.ofConfined()) {
            assertEquals(size, mapped.byteSize());
            assertEquals(18, mapped.segment().get(ValueLayout.JAVA_BYTE, size - 1));
            assertEquals(19, mapped.segment().get(ValueLayout.JAVA_BYTE, (1L << 31) - 1));
            Span span = new Span();
            span.set(mapped, (1L << 31) - 1, 2);
            MemorySegment target = arena.allocate(2);
            reader.copy(span, target, 0);
            assertEquals(20, target.get(ValueLayout.JAVA_BYTE, 1));
            assertTrue(mapped.residency(64) < 0.75, "a sparse file is not in the page cache");
        }
    }

    @Test
    void anEmptyFileMapsToNoBytesAndAFolderOrNothingIsRefusedByName() throws IOException {
        try (MappedFile mapped = MappedFile.open(Files.createFile(folder.resolve("empty")))) {
            assertEquals(0, mapped.byteSize());
            assertFalse(mapped.advise(Advice.WILL_NEED, 0, 0));
            assertEquals(1, mapped.residency(8));
        }
        assertTrue(assertThrows(MalformedStoreException.class, () -> MappedFile.open(folder)).getMessage()
                .contains(folder.toString()));
        assertTrue(assertThrows(NoSuchFileException.class, () -> MappedFile.open(folder.resolve("absent")))
                .getMessage().contains("absent"));
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
    void linuxTakesEveryAdviceAtAnyOffset() throws IOException {
        try (MappedFile mapped = MappedFile.open(random(SIZE))) {
            for (Advice advice : Advice.values()) {
                assertTrue(mapped.advise(advice, 0, SIZE), advice.toString());
                assertTrue(mapped.advise(advice, 4099, 10), advice.toString());
                assertTrue(mapped.advise(advice, SIZE - 1, 1), advice.toString());
            }
            assertEquals(1, mapped.residency(64), "what was just populated is resident");
            assertThrows(IndexOutOfBoundsException.class, () -> mapped.advise(Advice.WILL_NEED, 1, SIZE));
            assertThrows(IndexOutOfBoundsException.class, () -> mapped.advise(Advice.WILL_NEED, -1, 1));
        }
    }

    @Test
    void whatIsClosedIsNotRead() throws IOException {
        MappedFile mapped = MappedFile.open(random(SIZE));
        MemorySegment segment = mapped.segment();
        mapped.close();
        mapped.close();
        assertThrows(IllegalStateException.class, () -> segment.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void everyModeReadsTheSameBytesToTheirPlaceAndNoFurther() throws IOException {
        Path path = random(SIZE);
        byte[] content = Files.readAllBytes(path);
        SplittableRandom random = new SplittableRandom(8);
        try (MappedFile mapped = MappedFile.open(path); Arena arena = Arena.ofConfined()) {
            for (ReadMode mode : ReadMode.values()) {
                try (SpanReader reader = new SpanReader(mode)) {
                    Span span = new Span();
                    for (int i = 0; i < 500; i++) {
                        int offset = random.nextInt(SIZE);
                        int length = random.nextInt(Math.min(70_000, SIZE - offset) + 1);
                        int at = random.nextInt(20);
                        MemorySegment target = arena.allocate(length + 40);
                        target.fill((byte) 0x5A);
                        span.set(mapped, offset, length);
                        reader.copy(span, target, at);
                        MemorySegment expected = MemorySegment.ofArray(content).asSlice(offset, length);
                        assertEquals(-1, expected.mismatch(target.asSlice(at, length)), mode + " copy " + i);
                        for (int b = 0; b < 40; b++) {
                            assertEquals(0x5A, target.get(ValueLayout.JAVA_BYTE, b < at ? b : b + length));
                        }
                        Span local = reader.local(span);
                        assertEquals(-1, expected.mismatch(local.slice()), mode + " local " + i);
                    }
                }
            }
        }
    }

    @Test
    void aSpanOfMemoryIsCopiedInEveryMode() {
        byte[] content = {1, 2, 3, 4, 5};
        for (ReadMode mode : ReadMode.values()) {
            try (SpanReader reader = new SpanReader(mode); Arena arena = Arena.ofConfined()) {
                Span span = new Span();
                span.set(MemorySegment.ofArray(content), 1, 3);
                MemorySegment target = arena.allocate(5);
                reader.copy(span, target, 2);
                assertEquals(-1, target.mismatch(MemorySegment.ofArray(new byte[] {0, 0, 2, 3, 4})));
                assertEquals(span, reader.local(span));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ReadMode.class)
    void aTargetThatIsTooSmallOrASpanBeyondTheFileIsRefused(ReadMode mode) throws IOException {
        try (MappedFile mapped = MappedFile.open(random(4096)); SpanReader reader = new SpanReader(mode);
                Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(4096);
            Span span = new Span();
            span.set(mapped, 0, 4096);
            assertThrows(IndexOutOfBoundsException.class, () -> reader.copy(span, target, 1));
            span.set(mapped, 1, 4096);
            assertThrows(IndexOutOfBoundsException.class, () -> reader.copy(span, target, 0));
            span.set(mapped, -1, 10);
            assertThrows(IndexOutOfBoundsException.class, () -> reader.copy(span, target, 0));
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aFileThatShrankIsNamedWithBothSizes() throws IOException {
        Path path = random(SIZE);
        try (MappedFile mapped = MappedFile.open(path)) {
            mapped.checkUnchanged();
            try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                file.setLength(100);
            }
            String message = assertThrows(UncheckedIOException.class, mapped::checkUnchanged).getMessage();
            assertTrue(message.contains("data: the file shrank while it was open: 100 bytes, expected 1048576"),
                    message);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aFileThatIsReplacedUnderItsNameIsReadAsItWas() throws IOException {
        Path path = random(SIZE);
        byte[] content = Files.readAllBytes(path);
        try (MappedFile mapped = MappedFile.open(path); SpanReader reader = new SpanReader(ReadMode.PREAD);
                Arena arena = Arena.ofConfined()) {
            Files.move(Files.write(folder.resolve("other"), new byte[3]), path,
                    java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            Span span = new Span();
            span.set(mapped, 0, SIZE);
            MemorySegment target = arena.allocate(SIZE);
            reader.copy(span, target, 0);
            assertEquals(-1, target.mismatch(MemorySegment.ofArray(content)));
            mapped.checkUnchanged();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void anErrorOfTheSystemIsInItsWordsAndNamesTheFile() throws IOException {
        Path file = random(1);
        String message = assertThrows(IOException.class, () -> Posix.openReadOnly(file.resolve("below"))).getMessage();
        assertTrue(message.contains("below: cannot be opened: Not a directory"), message);
    }
}
