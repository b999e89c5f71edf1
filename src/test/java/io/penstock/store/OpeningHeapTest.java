// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store of many documents is opened and looked up without heap in proportion to them. */
class OpeningHeapTest {

    private static final int DOCUMENTS = 500_000;
    private static final int TOKENS_EACH = 3;
    /** What opening takes whatever the number of documents; a byte a document would be twice that. */
    private static final long MAX_BYTES = DOCUMENTS / 2;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @TempDir
    private Path folder;

    @Test
    void megatron() throws IOException {
        ByteBuffer idx = ByteBuffer.allocate(34 + DOCUMENTS * 20 + 8).order(ByteOrder.LITTLE_ENDIAN)
                .put("MMIDIDX\0\0".getBytes(StandardCharsets.ISO_8859_1)).putLong(1).put((byte) 8)
                .putLong(DOCUMENTS).putLong(DOCUMENTS + 1);
        for (int d = 0; d < DOCUMENTS; d++) {
            idx.putInt(TOKENS_EACH);
        }
        for (int d = 0; d < DOCUMENTS; d++) {
            idx.putLong(2L * TOKENS_EACH * d);
        }
        for (int d = 0; d <= DOCUMENTS; d++) {
            idx.putLong(d);
        }
        Files.write(folder.resolve("x.bin"), new byte[2 * TOKENS_EACH * DOCUMENTS]);
        check(Files.write(folder.resolve("x.idx"), idx.array()));
    }

    @Test
    void datatrove() throws IOException {
        ByteBuffer ends = ByteBuffer.allocate(DOCUMENTS * 8).order(ByteOrder.LITTLE_ENDIAN);
        for (int d = 1; d <= DOCUMENTS; d++) {
            ends.putLong((long) TOKENS_EACH * d);
        }
        Files.write(folder.resolve("x.ds.index"), ends.array());
        check(Files.write(folder.resolve("x.ds"), new byte[2 * TOKENS_EACH * DOCUMENTS]));
    }

    private static void check(Path path) throws IOException {
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 30 && least >= MAX_BYTES; round++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            try (TokenStore store = TokenStore.open(path)) {
                assertEquals(DOCUMENTS, store.documentCount());
                assertEquals(TOKENS_EACH * 4711L, store.documentStart(4711));
            }
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        assertTrue(least < MAX_BYTES, least + " bytes of heap to open " + path.getFileName());
    }
}
