// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import org.jspecify.annotations.Nullable;

/** Reads a mapped file sequentially, range by range, and fetches ahead; owns the file. */
final class MappedChannel implements SeekableByteChannel {

    /** After this many bytes read in sequence, the reader is expected to read on. */
    private static final long SEQUENTIAL_BYTES = 1 << 20;
    private static final long READ_AHEAD_BYTES = 128 << 20;
    /** Between two looks at what is to be fetched ahead. */
    private static final long STEP_BYTES = 1 << 19;

    private final MappedFile file;
    private final Span span = new Span();
    private final FetchWaits waits = new FetchWaits();
    /** Reads into native memory; null until then. */
    private @Nullable SpanReader reader;
    private long position;
    /** Where it looked last. */
    private long lookedAt;
    private boolean closed;

    MappedChannel(MappedFile file) {
        this.file = file;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (position >= file.byteSize() || !target.hasRemaining()) {
            return target.hasRemaining() ? -1 : 0;
        }
        int bytes = (int) Math.min(target.remaining(), file.byteSize() - position);
        fetchAhead();
        MemorySegment into = MemorySegment.ofBuffer(target);
        try {
            if (into.isNative()) {
                reader = reader == null ? new SpanReader(ReadMode.AUTO) : reader;
                span.set(file, position, bytes);
                reader.copy(span, into, 0);
            } else {
                copy(into, bytes);
            }
        } catch (InternalError fault) {
            throw file.explain(fault);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        target.position(target.position() + bytes);
        position += bytes;
        return bytes;
    }

    private void copy(MemorySegment into, int bytes) {
        long before;
        do {
            before = file.drops();
            file.fetch(position, bytes, waits);
            MemorySegment.copy(file.mapping(), position, into, 0, bytes);
        } while (file.drops() != before);
    }

    private void fetchAhead() {
        if (position >= SEQUENTIAL_BYTES && Math.abs(position - lookedAt) >= STEP_BYTES) {
            lookedAt = position;
            file.prefetch(position, Math.min(READ_AHEAD_BYTES, file.fetcher().mostAhead()));
        }
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
        if (!closed) {
            closed = true;
            if (reader != null) {
                reader.close();
            }
            file.close();
        }
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
