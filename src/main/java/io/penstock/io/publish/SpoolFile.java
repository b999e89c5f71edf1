package io.penstock.io.publish;

import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * A file that is written from its start to its end through a buffer in native memory, by one thread at a time. An error
 * names the file that it will be.
 */
public final class SpoolFile implements AutoCloseable {

    private final FileChannel channel;
    private final Path target;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment buffer;
    private final ByteBuffer view;
    private long flushedBytes;
    private int used;

    /**
     * A file that is empty so far.
     *
     * @param channel the file; closed with this
     * @param target the file that it will be, for messages
     * @param bufferBytes how much is written at a time
     */
    public SpoolFile(FileChannel channel, Path target, int bufferBytes) {
        this.channel = channel;
        this.target = target;
        this.buffer = arena.allocate(bufferBytes, Long.BYTES);
        this.view = buffer.asByteBuffer();
    }

    /**
     * Room for some bytes at {@link #position} of {@link #buffer}; {@link #advance} says how many were put there.
     *
     * @param bytes how many are needed; at most the size of the buffer
     * @throws IOException if the bytes before cannot be written
     */
    public void reserve(int bytes) throws IOException {
        if (bytes > buffer.byteSize() - used) {
            flush();
        }
    }

    /**
     * What is written next is put here.
     *
     * @return the buffer
     */
    public MemorySegment buffer() {
        return buffer;
    }

    /**
     * Where in {@link #buffer} the next byte is put.
     *
     * @return its offset
     */
    public int position() {
        return used;
    }

    /**
     * Room that is left in {@link #buffer}.
     *
     * @return bytes
     */
    public int room() {
        return (int) buffer.byteSize() - used;
    }

    /**
     * Some bytes were put.
     *
     * @param bytes how many
     */
    public void advance(int bytes) {
        used += bytes;
    }

    /**
     * Appends a 32-bit number.
     *
     * @param value the number
     * @throws IOException if it cannot be written
     */
    public void putInt(int value) throws IOException {
        reserve(Integer.BYTES);
        buffer.set(LittleEndian.I32, used, value);
        used += Integer.BYTES;
    }

    /**
     * Appends a 64-bit number.
     *
     * @param value the number
     * @throws IOException if it cannot be written
     */
    public void putLong(long value) throws IOException {
        reserve(Long.BYTES);
        buffer.set(LittleEndian.I64, used, value);
        used += Long.BYTES;
    }

    /**
     * Appends memory.
     *
     * @param source the memory
     * @param offset its first byte
     * @param bytes how many
     * @throws IOException if they cannot be written
     */
    public void put(MemorySegment source, long offset, long bytes) throws IOException {
        for (long done = 0; done < bytes; ) {
            reserve(1);
            int step = (int) Math.min(room(), bytes - done);
            MemorySegment.copy(source, offset + done, buffer, used, step);
            used += step;
            done += step;
        }
    }

    /**
     * Bytes that were appended.
     *
     * @return the size the file has once it is flushed
     */
    public long byteSize() {
        return flushedBytes + used;
    }

    /**
     * Writes what is in the buffer.
     *
     * @throws IOException if it cannot be written, for example because the disk is full; names the file
     */
    public void flush() throws IOException {
        view.position(0).limit(used);
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

    /**
     * Writes what is in the buffer, and makes it last.
     *
     * @throws IOException if it cannot be written; names the file
     */
    public void force() throws IOException {
        flush();
        try {
            channel.force(true);
        } catch (IOException e) {
            throw failed(target, flushedBytes, e);
        }
    }

    /**
     * An error of the OS with the file's name.
     *
     * @param target the file that could not be written
     * @param offset where in it
     * @param cause what the OS said
     * @return the exception to throw
     */
    public static IOException failed(Object target, long offset, IOException cause) {
        String reason = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return new IOException(target + ": cannot be written at byte " + offset + ": " + reason, cause);
    }

    /**
     * An error of the OS with the file's name.
     *
     * @param file the file that could not be read
     * @param offset where in it
     * @param cause what the OS said
     * @return the exception to throw
     */
    public static IOException unreadable(Object file, long offset, IOException cause) {
        String reason = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return new IOException(file + ": cannot be read at byte " + offset + ": " + reason, cause);
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
