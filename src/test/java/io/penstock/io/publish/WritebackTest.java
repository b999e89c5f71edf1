// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WritebackTest {

    @TempDir
    private Path folder;

    private FileChannel create() throws IOException {
        return FileChannel.open(folder.resolve("file"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    }

    @Test
    void aFileThatIsWrittenToDiskWhileItGrowsHasAllItsBytes() throws IOException {
        byte[] bytes = new byte[100_000];
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        try (FileChannel channel = create()) {
            Writeback writeback = new Writeback(channel, 150_000);
            for (int i = 0; i < 10; i++) {
                bytes[i] = (byte) i;
                written.write(bytes);
                channel.write(ByteBuffer.wrap(bytes));
                writeback.reached(written.size());
            }
            writeback.end();
        }
        assertArrayEquals(written.toByteArray(), Files.readAllBytes(folder.resolve("file")));
    }

    @Test
    void aWriteThatFailsIsReportedToWhoeverEndsTheFileAlsoIfInterrupted() throws IOException {
        FileChannel channel = create();
        channel.close();
        Writeback writeback = new Writeback(channel, 10);
        writeback.reached(10);
        Thread.currentThread().interrupt();
        assertThrows(ClosedChannelException.class, writeback::end);
        assertTrue(Thread.interrupted());
        assertThrows(ClosedChannelException.class, () -> writeback.reached(11));
        assertEquals(0, Files.size(folder.resolve("file")));
    }
}
