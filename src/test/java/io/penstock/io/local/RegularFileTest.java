// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.penstock.Pipes;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.os.Posix;
import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class RegularFileTest {

    @TempDir
    Path folder;

    /** Every way to open a path. */
    private static List<Callable<Object>> openings(Path path) {
        return List.of(() -> RegularFile.open(path), () -> RegularFile.newInputStream(path),
                () -> RegularFile.newFileStream(path), () -> RegularFile.readAllBytes(path),
                () -> MappedFile.open(path));
    }

    private static void assertRefused(Path path, String found) {
        for (Callable<Object> opening : openings(path)) {
            Exception e = assertThrows(MalformedStoreException.class, () -> Pipes.guarded("opening", opening));
            assertEquals(path + ": " + found + ", expected a regular file", e.getMessage());
        }
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void aFifoIsRefusedBeforeItIsOpened() throws Exception {
        Path pipe = Pipes.make(folder.resolve("pipe"));
        assertRefused(pipe, "a FIFO");
        assertRefused(Files.createSymbolicLink(folder.resolve("link"), pipe), "a FIFO");
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void aDeviceASocketAndAFolderAreRefused() throws IOException {
        assertRefused(Path.of("/dev/zero"), "a device");
        assertRefused(folder, "a folder");
        Path socket = folder.resolve("socket");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            assertRefused(socket, "a socket");
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aFifoThatComesBetweenTheLookAndTheOpeningDoesNotHoldIt() throws Exception {
        Path pipe = Pipes.make(folder.resolve("pipe"));
        int fd = Pipes.guarded("open(2)", () -> Posix.openReadOnly(pipe));
        try {
            Path same = RegularFile.sameFile(pipe, fd);
            assertThrows(MalformedStoreException.class, () -> RegularFile.require(same, pipe));
        } finally {
            Posix.close(fd);
        }
    }

    @Test
    void aMissingFileIsNamed() {
        Path absent = folder.resolve("absent");
        for (Callable<Object> opening : openings(absent)) {
            assertEquals(absent + ": no such file",
                    assertThrows(NoSuchFileException.class, opening::call).getMessage());
        }
    }

    @Test
    void aFileIsReadAsItIs() throws IOException {
        byte[] content = "one \u00e9 \ud83d\ude00\n".repeat(10_000).getBytes(UTF_8);
        Path file = Files.write(folder.resolve("file"), content);
        assertArrayEquals(content, RegularFile.readAllBytes(file));
        try (InputStream in = RegularFile.newFileStream(file)) {
            assertArrayEquals(content, in.readAllBytes());
        }
        try (FileChannel channel = RegularFile.open(file)) {
            ByteBuffer two = ByteBuffer.allocate(2);
            channel.read(two, 4);
            assertArrayEquals("\u00e9".getBytes(UTF_8), two.array());
        }
    }
}
