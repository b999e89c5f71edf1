// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class PosixTest {

    private static final int EBADF = 9;
    private static final int EISDIR = 21;
    private static final int NO_DESCRIPTOR = Integer.MAX_VALUE;

    @TempDir
    Path folder;

    @Test
    void aReadStopsAtTheEndOfTheFile() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[] {1, 2, 3});
        int fd = Posix.openReadOnly(file);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(4);
            assertEquals(2, Posix.pread(fd, 1, target, 1, 3));
            assertArrayEquals(new byte[] {0, 2, 3, 0}, target.toArray(ValueLayout.JAVA_BYTE));
            assertEquals(0, Posix.pread(fd, 3, target, 0, 4));
        } finally {
            Posix.close(fd);
        }
    }

    @Test
    void aReadThatFailsTellsWhy() throws IOException {
        int fd = Posix.openReadOnly(folder);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(4);
            assertEquals(-EISDIR, Posix.pread(fd, 0, target, 0, 4));
            assertEquals(-EBADF, Posix.pread(NO_DESCRIPTOR, 0, target, 0, 4));
        } finally {
            Posix.close(fd);
        }
    }

    @Test
    void aReadIsGivenOnlyNativeMemoryThatIsAliveAndWritable() {
        Arena closed = Arena.ofConfined();
        MemorySegment freed = closed.allocate(4);
        closed.close();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(4);
            for (MemorySegment bad : new MemorySegment[] {freed, memory.asReadOnly(),
                    MemorySegment.ofArray(new byte[4])}) {
                assertThrows(IllegalArgumentException.class, () -> Posix.pread(NO_DESCRIPTOR, 0, bad, 0, 4));
            }
            assertThrows(IndexOutOfBoundsException.class, () -> Posix.pread(NO_DESCRIPTOR, 0, memory, 1, 4));
        }
    }
}
