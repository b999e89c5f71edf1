package io.penstock.io.publish;

import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * A file that one thread at a time writes sequentially through a buffer in native memory. Errors name the final file.
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
     * Creates a writer for an empty file.
     *
     * @param channel the file; owned
     * @param target the final file, for messages
     * @param bufferBytes the size of the buffer
     */
    public SpoolFile(FileChannel channel, Path target, int bufferBytes) {
        this.channel = channel;
        this.target = target;
        this.buffer = arena.allocate(bufferBytes, Long.BYTES);
        this.view = buffer.asByteBuffer();
    }

    /**
     * Makes room at {@link #position} of {@link #buffer}; call {@link #advance} after writing there.
     *
     * @param bytes the bytes needed; at most the size of the buffer
     * @throws IOException if earlier bytes cannot be written
     */
    public void reserve(int bytes) throws IOException {
        if (bytes > buffer.byteSize() - used) {
            flush();
        }
    }

    /**
     * Returns the buffer.
     *
     * @return the buffer
     */
    public MemorySegment buffer() {
        return buffer;
    }

    /**
     * Returns where in {@link #buffer} the next byte goes.
     *
     * @return its offset
     */
    public int position() {
        return used;
    }

    /**
     * Returns the room left in {@link #buffer}.
     *
     * @return bytes
     */
    public int room() {
        return (int) buffer.byteSize() - used;
    }

    /**
     * Advances past bytes written to the buffer.
     *
     * @param bytes the number of bytes
     */
    public void advance(int bytes) {
        used += bytes;
    }

    /**
     * Appends a 32-bit number.
     *
     * @param value the number
     * @throws IOException if the write fails
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
     * @throws IOException if the write fails
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
     * @param bytes the number of bytes
     * @throws IOException if the write fails
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
     * Returns the bytes appended so far.
     *
     * @return the file's size after a flush
     */
    public long byteSize() {
        return flushedBytes + used;
    }

    /**
     * Writes the buffer.
     *
     * @throws IOException if the write fails, for example because the disk is full; names the file
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
     * Writes the buffer and makes the file durable.
     *
     * @throws IOException if the write fails; names the file
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
     * Adds a file's name to an OS error.
     *
     * @param target the file that could not be written
     * @param offset where in it
     * @param cause the OS error
     * @return the exception to throw
     */
    public static IOException failed(Object target, long offset, IOException cause) {
        String reason = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return new IOException(target + ": cannot be written at byte " + offset + ": " + reason, cause);
    }

    /**
     * Adds a file's name to an OS error.
     *
     * @param file the file that could not be read
     * @param offset where in it
     * @param cause the OS error
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
