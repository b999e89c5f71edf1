// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file that two processes map: numbers at its beginning, and whatever they agree on behind. Either may let it grow,
 * and tells the other its size. One of the two uses it at a time; for one thread.
 */
final class SharedMemory implements AutoCloseable {

    /** Where the bytes behind the numbers begin. */
    static final long BEGIN = 256;
    private static final int BLOCK_BYTES = 1 << 20;

    private final FileChannel file;
    private Arena arena = Arena.ofShared();
    private MemorySegment memory;

    /** Opens a file that is there or not. */
    SharedMemory(Path path) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE);
        memory = MemorySegment.NULL;
    }

    /** All of the memory, until it grows. */
    MemorySegment memory() {
        return memory;
    }

    long number(int n) {
        return memory.get(JAVA_LONG_UNALIGNED, 8L * n);
    }

    void number(int n, long value) {
        memory.set(JAVA_LONG_UNALIGNED, 8L * n, value);
    }

    /**
     * Makes sure that there are so many bytes, and keeps what there is. They are written, so that a full disk is an
     * error here and not a fault later.
     */
    MemorySegment require(long bytes) throws IOException {
        if (memory.byteSize() < bytes) {
            ByteBuffer zeros = ByteBuffer.allocate(BLOCK_BYTES);
            long size = Math.ceilDiv(Math.max(bytes, 2 * memory.byteSize()), BLOCK_BYTES) * BLOCK_BYTES;
            for (long at = file.size(); at < size; at += file.write(zeros.clear(), at)) { }
            map(size);
        }
        return memory;
    }

    /** Maps what the other process has added. */
    void map(long bytes) throws IOException {
        if (bytes == memory.byteSize()) {
            return;
        }
        if (bytes > file.size()) {
            throw new IOException("shared memory of " + file.size() + " bytes, expected " + bytes);
        }
        arena.close();
        arena = Arena.ofShared();
        memory = file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
    }

    @Override
    public void close() throws IOException {
        if (arena.scope().isAlive()) {
            arena.close();
        }
        file.close();
    }
}
