// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.os.FileStatus;
import io.penstock.os.Posix;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A file that somebody does something to while it is mapped. */
@EnabledOnOs(OS.LINUX)
class ChangedFileTest {

    private static final int SIZE = 1 << 20;

    @TempDir
    private Path folder;
    private Path path;

    @BeforeEach
    void writeFile() throws IOException {
        byte[] content = new byte[SIZE];
        new SplittableRandom(7).nextBytes(content);
        path = Files.write(folder.resolve("data"), content);
    }

    @FunctionalInterface
    private interface Act {
        void on(Path path) throws IOException;
    }

    /** Does it until the file's change time is another: a clock of the OS ticks some hundred times a second. */
    private void act(Act act) throws IOException {
        Object before = changeTime();
        do {
            act.on(path);
        } while (changeTime().equals(before));
    }

    private Object changeTime() throws IOException {
        return Files.getAttribute(path, "unix:ctime");
    }

    private static void write(Path path, long offset, int... bytes) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.seek(offset);
            for (int b : bytes) {
                file.write(b);
            }
        }
    }

    private static void writeMapped(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
                Arena arena = Arena.ofConfined()) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE, arena);
            mapped.set(ValueLayout.JAVA_BYTE, 70_000, (byte) ~mapped.get(ValueLayout.JAVA_BYTE, 70_000));
            mapped.force();
        }
    }

    private static String refusal(MappedFile mapped) {
        String message = assertThrows(UncheckedIOException.class, mapped::checkUnchanged).getMessage();
        assertTrue(message.contains("data: the file was written to while it was open"), message);
        return message;
    }

    @Test
    void aWriteByCallIsSeenAndToldWithBothTimes() throws IOException {
        try (MappedFile mapped = MappedFile.open(path)) {
            mapped.checkUnchanged();
            act(file -> write(file, 500_000, 1, 2, 3));
            String message = refusal(mapped);
            String modified = Files.getLastModifiedTime(path).toInstant().toString();
            assertTrue(message.contains("modified " + modified) && message.contains("expected 1048576 bytes"),
                    message);
        }
    }

    @Test
    void aWriteThroughAMappingIsSeen() throws IOException {
        FileTime before = Files.getLastModifiedTime(path);
        try (MappedFile mapped = MappedFile.open(path)) {
            act(ChangedFileTest::writeMapped);
            assumeTrue(!before.equals(Files.getLastModifiedTime(path)), "a file system that keeps no time of such");
            refusal(mapped);
        }
    }

    @Test
    void aFileThatGrowsWasWrittenToToo() throws IOException {
        try (MappedFile mapped = MappedFile.open(path)) {
            act(file -> write(file, SIZE, 9));
            assertTrue(refusal(mapped).contains("1048577 bytes"));
        }
    }

    @Test
    void aWriteWhoseModificationTimeIsSetBackIsSeenByTheChangeTimeAndTheBytes() throws IOException {
        FileTime before = Files.getLastModifiedTime(path);
        try (MappedFile mapped = MappedFile.open(path)) {
            mapped.advise(Advice.POPULATE_READ, 0, SIZE);
            mapped.extendSample();
            act(file -> {
                Files.write(file, new byte[SIZE], StandardOpenOption.WRITE);
                Files.setLastModifiedTime(file, before);
            });
            assertEquals(before, Files.getLastModifiedTime(path));
            assertTrue(refusal(mapped).contains("its modification time set back: at byte 0"));
        }
    }

    @ParameterizedTest
    @EnumSource(ReadMode.class)
    void onceSeenEveryReadFailsInEveryMode(ReadMode mode) throws IOException {
        try (MappedFile mapped = MappedFile.open(path); SpanReader reader = new SpanReader(mode);
                Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(64);
            Span span = new Span();
            span.set(mapped, 4096, 64);
            reader.copy(span, target, 0);
            act(file -> write(file, 4096, 1, 2, 3));
            refusal(mapped);
            for (int i = 0; i < 3; i++) {
                assertThrows(UncheckedIOException.class, () -> reader.copy(span, target, 0));
                assertThrows(UncheckedIOException.class, () -> reader.local(span));
            }
        }
    }

    private enum Harmless {
        CHMOD(path -> Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-r-----"))),
        SAME_MODE(path -> Files.setPosixFilePermissions(path, Files.getPosixFilePermissions(path))),
        ACCESS_TIME(path -> Files.setAttribute(path, "lastAccessTime", FileTime.fromMillis(1_000_000))),
        HARD_LINK(path -> {
            Files.deleteIfExists(path.resolveSibling("other"));
            Files.createLink(path.resolveSibling("other"), path);
        }),
        RENAME(path -> {
            Files.move(path, path.resolveSibling("moved"));
            Files.move(path.resolveSibling("moved"), path);
        });

        private final Act act;

        Harmless(Act act) {
            this.act = act;
        }
    }

    @ParameterizedTest
    @EnumSource(Harmless.class)
    void whatLeavesTheBytesAsTheyAreIsNoError(Harmless what) throws IOException {
        try (MappedFile mapped = MappedFile.open(path)) {
            mapped.advise(Advice.POPULATE_READ, 0, SIZE);
            mapped.extendSample();
            Object before = changeTime();
            act(what.act);
            assertNotEquals(before, changeTime());
            mapped.checkUnchanged();
            act(file -> write(file, 5, 1));
            refusal(mapped);
        }
    }

    @Test
    void deletingOrReplacingTheNameIsNoErrorAndAWriteToTheOtherFileIsNone() throws IOException {
        for (Consumer<Path> act : List.<Consumer<Path>>of(ChangedFileTest::replace, ChangedFileTest::delete)) {
            try (MappedFile mapped = MappedFile.open(path)) {
                act.accept(path);
                mapped.checkUnchanged();
                Files.write(path, new byte[17]);
                mapped.checkUnchanged();
            }
        }
    }

    private static void replace(Path path) {
        try {
            Files.move(Files.write(path.resolveSibling("other"), new byte[3]), path,
                    StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path path) {
        try {
            Files.delete(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void sampledBytesThatAreGoneAreAnErrorInJavaAndNoCrash() throws IOException {
        try (MappedFile mapped = MappedFile.open(path)) {
            mapped.segment().toArray(ValueLayout.JAVA_BYTE);
            var sample = new ChangeWatch.ContentSample(mapped);
            sample.extend();
            assertNotEquals(0, sample.taken());
            assertEquals(-1, sample.firstChanged());
            try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                file.setLength(0);
            }
            assertThrows(InternalError.class, sample::firstChanged);
        }
    }

    @Test
    void aFileThatThisProcessWritesIsReadAsItIsWritten() throws IOException {
        try (MappedFile mapped = MappedFile.openWritten(path)) {
            act(file -> write(file, 0, 1, 2, 3));
            mapped.checkUnchanged();
        }
    }

    @Test
    void aFileIsCheckedWithTheOneThatSaysWhatIsInIt() throws IOException {
        Path tokens = Files.write(folder.resolve("tokens"), new byte[SIZE]);
        try (MappedFile index = MappedFile.open(path); MappedFile mapped = Location.of(tokens).openWith(index)) {
            mapped.checkUnchanged();
            act(file -> write(file, 8, 1));
            refusal(mapped);
        }
    }

    @Test
    void theStatusIsWhatTheJdkSaysOfTheFile() throws IOException {
        int fd = Posix.openReadOnly(path);
        try {
            FileStatus status = Posix.status(fd);
            assumeTrue(status != null, "a C library without statx");
            assertEquals(SIZE, status.byteSize());
            assertEquals(Files.getLastModifiedTime(path).to(TimeUnit.NANOSECONDS),
                    status.modifiedNanos());
            assertEquals(((FileTime) changeTime()).to(TimeUnit.NANOSECONDS),
                    status.changedNanos());
        } finally {
            Posix.close(fd);
        }
    }
}
