// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;

/** Reads a mapped file sequentially, range by range; owns the file. */
final class MappedChannel implements SeekableByteChannel {

    private final MappedFile file;
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
        file.reading(() -> target.put(file.range(position, bytes).asByteBuffer()));
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
