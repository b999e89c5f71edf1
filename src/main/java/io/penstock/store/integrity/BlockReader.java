// SPDX-License-Identifier: Apache-2.0
package io.penstock.store.integrity;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.io.publish.SpoolFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.util.zip.CRC32C;

/**
 * Reads a file block by block to compute checksums. It calls read instead of mapping: an unreadable sector then fails
 * one read, and no page stays in the process. For one thread.
 */
final class BlockReader implements AutoCloseable {

    private static final int BUFFER_BYTES = 1 << 20;

    /** Receives a block's checksum. */
    @FunctionalInterface
    interface Visitor {
        void visit(long block, int crc);
    }

    private final Location file;
    private final SeekableByteChannel channel;
    private final int blockBytes;
    private final long fileBytes;
    private final Arena arena = Arena.ofConfined();
    private final ByteBuffer buffer;
    private final CRC32C crc = new CRC32C();

    private BlockReader(Location file, SeekableByteChannel channel, int blockBytes) throws IOException {
        this.file = file;
        this.channel = channel;
        this.blockBytes = blockBytes;
        this.fileBytes = channel.size();
        this.buffer = arena.allocate(Math.max(blockBytes, BUFFER_BYTES), Long.BYTES).asByteBuffer();
    }

    static BlockReader open(Location file, int blockBytes) throws IOException {
        SeekableByteChannel channel = file.openChannel();
        try {
            return new BlockReader(file, channel, blockBytes);
        } catch (IOException e) {
            try (channel) {
                throw SpoolFile.unreadable(file, 0, e);
            }
        }
    }

    long fileBytes() {
        return fileBytes;
    }

    /** Reads the blocks {@code from} (inclusive) to {@code to} (exclusive). */
    void forEach(long from, long to, Visitor visitor) throws IOException {
        long blocksAtOnce = buffer.capacity() / blockBytes;
        for (long block = from; block < to; ) {
            long end = Math.min(to, block + blocksAtOnce);
            read(block * blockBytes, (int) (Math.min(end * blockBytes, fileBytes) - block * blockBytes));
            int filled = buffer.position();
            for (int at = 0; at < filled; at += blockBytes) {
                crc.reset();
                crc.update(buffer.limit(Math.min(at + blockBytes, filled)).position(at));
                visitor.visit(block++, (int) crc.getValue());
            }
        }
    }

    private void read(long offset, int bytes) throws IOException {
        buffer.clear().limit(bytes);
        while (buffer.hasRemaining()) {
            if (readSome(offset + buffer.position()) < 0) {
                throw new MalformedStoreException(file, offset + buffer.position(), "the end of a file that shrank",
                        fileBytes + " bytes");
            }
        }
    }

    private int readSome(long offset) throws IOException {
        try {
            return channel.position(offset).read(buffer);
        } catch (IOException e) {
            throw SpoolFile.unreadable(file, offset, e);
        }
    }

    @Override
    public void close() throws IOException {
        arena.close();
        try {
            channel.close();
        } catch (IOException e) {
            throw SpoolFile.unreadable(file, fileBytes, e);
        }
    }
}
