// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A file that one thread at a time writes sequentially through a buffer in native memory. Errors name the final file.
 */
public final class SpoolFile implements AutoCloseable {

    private final FileChannel channel;
    private final Path target;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment buffer;
    private final ByteBuffer view;
    /** Sees what is flushed; null if nobody does, or what was flushed is removed. */
    private @Nullable Consumer<ByteBuffer> observer;
    private long flushedBytes;
    private int used;

    /** Creates a writer for an empty file, which it owns; messages name {@code target}, the final file. */
    public SpoolFile(FileChannel channel, Path target, int bufferBytes) {
        this(channel, target, bufferBytes, null);
    }

    private SpoolFile(FileChannel channel, Path target, int bufferBytes, @Nullable Consumer<ByteBuffer> observer) {
        this.channel = channel;
        this.observer = observer;
        this.target = target;
        this.buffer = arena.allocate(bufferBytes, Long.BYTES);
        this.view = buffer.asByteBuffer();
    }

    /**
     * Creates a writer whose observer receives the bytes on the way to the file, in order, until some of them are
     * removed.
     */
    public static SpoolFile observed(FileChannel channel, Path target, int bufferBytes, Consumer<ByteBuffer> observer) {
        return new SpoolFile(channel, target, bufferBytes, observer);
    }

    /**
     * Makes room for at most the size of the buffer at {@link #position} of {@link #buffer}; call {@link #advance}
     * after writing there.
     */
    public void reserve(int bytes) throws IOException {
        if (bytes > buffer.byteSize() - used) {
            flush();
        }
    }

    public MemorySegment buffer() {
        return buffer;
    }

    /** Returns where in {@link #buffer} the next byte goes. */
    public int position() {
        return used;
    }

    /** Returns the room left in {@link #buffer}. */
    public int room() {
        return (int) buffer.byteSize() - used;
    }

    /** Advances past bytes written to the buffer. */
    public void advance(int bytes) {
        used += bytes;
    }

    /** Appends a 32-bit number. */
    public void putInt(int value) throws IOException {
        reserve(Integer.BYTES);
        buffer.set(LittleEndian.I32, used, value);
        used += Integer.BYTES;
    }

    /** Appends a 64-bit number. */
    public void putLong(long value) throws IOException {
        reserve(Long.BYTES);
        buffer.set(LittleEndian.I64, used, value);
        used += Long.BYTES;
    }

    public void put(MemorySegment source, long offset, long bytes) throws IOException {
        for (long done = 0; done < bytes; ) {
            reserve(1);
            int step = (int) Math.min(room(), bytes - done);
            MemorySegment.copy(source, offset + done, buffer, used, step);
            used += step;
            done += step;
        }
    }

    /** Removes the bytes that were appended last. */
    public void removeLast(long bytes) throws IOException {
        if (bytes <= used) {
            used -= (int) bytes;
            return;
        }
        flushedBytes -= bytes - used;
        used = 0;
        observer = null;
        try {
            channel.truncate(flushedBytes);
        } catch (IOException e) {
            throw failed(target, flushedBytes, e);
        }
    }

    /** Writes the buffer, the last one; returns whether the observer has seen the bytes of the file and no others. */
    public boolean end() throws IOException {
        flush();
        return observer != null;
    }

    /** Returns the bytes appended so far. */
    public long byteSize() {
        return flushedBytes + used;
    }

    /** Writes the buffer; an error, for example because the disk is full, names the file. */
    public void flush() throws IOException {
        view.position(0).limit(used);
        if (observer != null) {
            observer.accept(view);
            view.position(0);
        }
        try {
            while (view.hasRemaining()) {
                channel.write(view);
            }
        } catch (IOException e) {
            throw failed(target, flushedBytes + view.position(), e);
        }
        flushedBytes += used;
        used = 0;
    }

    /** Writes the buffer and makes the file durable. */
    public void force() throws IOException {
        flush();
        try {
            channel.force(true);
        } catch (IOException e) {
            throw failed(target, flushedBytes, e);
        }
    }

    /** Returns an OS error with the name of a file that could not be written, and where. */
    public static IOException failed(Object target, long offset, IOException cause) {
        return named(target, "written", offset, cause);
    }

    /** Returns an OS error with the name of a file that could not be read, and where. */
    public static IOException unreadable(Object file, long offset, IOException cause) {
        return named(file, "read", offset, cause);
    }

    private static IOException named(Object file, String done, long offset, IOException cause) {
        String reason = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return new IOException(file + ": cannot be " + done + " at byte " + offset + ": " + reason, cause);
    }

    /** Closes the file without a last {@link #flush}. Calling it again does nothing. */
    @Override
    public void close() throws IOException {
        if (arena.scope().isAlive()) {
            arena.close();
        }
        try {
            channel.close();
        } catch (IOException e) {
            throw failed(target, flushedBytes, e);
        }
    }
}
