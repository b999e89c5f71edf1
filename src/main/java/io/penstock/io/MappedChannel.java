// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;

/** Reads a mapped file sequentially, range by range, and fetches ahead; owns the file. */
final class MappedChannel implements SeekableByteChannel {

    /** After this many bytes read in sequence, the reader is expected to read on. */
    private static final long SEQUENTIAL_BYTES = 1 << 20;
    private static final long READ_AHEAD_BYTES = 64 << 20;

    private final MappedFile file;
    private final FetchWaits waits = new FetchWaits();
    private long position;
    private boolean closed;

    MappedChannel(MappedFile file) {
        this.file = file;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (position >= file.byteSize() && target.hasRemaining()) {
            return -1;
        }
        int bytes = (int) Math.min(target.remaining(), file.byteSize() - position);
        MemorySegment into = MemorySegment.ofBuffer(target);
        long before;
        do {
            before = file.drops();
            file.fetch(position, bytes, waits);
            if (position >= SEQUENTIAL_BYTES) {
                file.prefetch(position + bytes, READ_AHEAD_BYTES);
            }
            file.reading(() -> into.copyFrom(file.mapping().asSlice(position, bytes)));
        } while (file.drops() != before);
        target.position(target.position() + bytes);
        position += bytes;
        return bytes;
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public SeekableByteChannel position(long newPosition) {
        position = newPosition;
        return this;
    }

    @Override
    public long size() {
        return file.byteSize();
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public void close() {
        closed = true;
        file.close();
    }

    @Override
    public int write(ByteBuffer source) {
        throw new NonWritableChannelException();
    }

    @Override
    public SeekableByteChannel truncate(long size) {
        throw new NonWritableChannelException();
    }
}
