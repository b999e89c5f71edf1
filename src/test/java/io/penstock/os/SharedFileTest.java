// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedFileTest {

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void create() throws IOException {
        assumeTrue(Posix.AVAILABLE);
        byte[] bytes = new byte[3 * 4096];
        Arrays.fill(bytes, (byte) 7);
        file = Files.write(folder.resolve("file"), bytes);
    }

    @Test
    void anExclusiveLockExcludesOthersOfItsByteEvenInOneProcess() throws IOException {
        try (SharedFile one = SharedFile.open(file); SharedFile other = SharedFile.open(file)) {
            assertTrue(one.tryExclusive(5));
            assertFalse(other.tryExclusive(5));
            assertFalse(other.tryShared(5));
            assertTrue(other.tryExclusive(6));
            one.release(5);
            assertTrue(other.tryExclusive(5));
        }
    }

    @Test
    @SuppressWarnings("try") // one is closed within
    void sharedLocksGoTogether() throws IOException {
        try (SharedFile one = SharedFile.open(file); SharedFile other = SharedFile.open(file)) {
            assertTrue(one.tryShared(1L << 40));
            assertTrue(other.tryShared(1L << 40));
            assertFalse(other.tryExclusive(1L << 40));
            one.close();
            assertTrue(other.tryExclusive(1L << 40));
        }
    }

    @Test
    void closingAnotherDescriptorReleasesNothing() throws IOException {
        try (SharedFile one = SharedFile.open(file)) {
            assertTrue(one.tryExclusive(0));
            SharedFile.open(file).close();
            assertArrayEquals(new byte[] {7}, Arrays.copyOf(Files.readAllBytes(file), 1));
            try (SharedFile other = SharedFile.open(file)) {
                assertFalse(other.tryExclusive(0));
            }
        }
    }

    @Test
    void aRemovedRangeIsZeros() throws IOException {
        try (SharedFile one = SharedFile.open(file)) {
            assumeTrue(one.removeRange(4096, 4096));
        }
        byte[] expected = new byte[3 * 4096];
        Arrays.fill(expected, 0, 4096, (byte) 7);
        Arrays.fill(expected, 2 * 4096, 3 * 4096, (byte) 7);
        assertArrayEquals(expected, Files.readAllBytes(file));
    }

    @Test
    void aFileThatWasReplacedIsNotCurrent() throws IOException {
        try (SharedFile one = SharedFile.open(file)) {
            assertTrue(one.isCurrent());
            Files.delete(file);
            assertFalse(one.isCurrent());
            Files.writeString(file, "other");
            assertFalse(one.isCurrent());
        }
    }

    @Test
    void aClosedOrMissingFileIsAnError() throws IOException {
        SharedFile one = SharedFile.open(file);
        one.close();
        one.close();
        assertThrows(FileSystemException.class, () -> one.tryExclusive(0));
        assertThrows(FileSystemException.class, () -> SharedFile.open(folder.resolve("none")));
    }
}
