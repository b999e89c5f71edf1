package io.penstock.io.spill;

import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The decoded copy of what a store holds compressed, where only decoding tells how large a part gets: parts are put one
 * behind the other as they come, in files that have no name. Each file is mapped: what is decoded is read as anything
 * else is, may be larger than memory, and is gone with the process. {@link DecodedBlocks} is for parts whose size is
 * known; both take their disk space where {@value DecodedBlocks#FOLDER_PROPERTY} says.
 *
 * <p>Any number of threads may append; what they write is written by one at a time.
 */
public final class DecodedSpill implements AutoCloseable {

    /** A file's size to begin with; each is twice as large as the one before, none larger than the last of these. */
    private static final long FIRST_FILE_BYTES = 64L << 20;
    private static final long LAST_FILE_BYTES = 16L << 30;
    private static final int ALIGNMENT_BYTES = 64;
    private static final int WRITE_BYTES = 1 << 20;

    /**
     * Where a part is.
     *
     * @param file the file that holds it
     * @param offset its first byte
     */
    public record Place(MappedFile file, long offset) {
    }

    private final Object store;
    private final List<MappedFile> files = new ArrayList<>();
    private final byte[] chunk = new byte[WRITE_BYTES];
    /** The last file, for writing. Not a channel: the interrupt of a thread that writes would close that for all. */
    private RandomAccessFile writer;
    private long used;
    private long nextFileBytes = FIRST_FILE_BYTES;
    private boolean closed;

    /**
     * A copy that has no part yet; takes no disk space.
     *
     * @param store what is decoded: what messages call it
     */
    public DecodedSpill(Object store) {
        this.store = store;
    }

    /**
     * Puts runs of bytes one behind the other, each at a multiple of 64 bytes.
     *
     * @param runs the bytes
     * @return where the first one is; the others follow as {@link #aligned} tells
     * @throws IOException if there is no disk space
     */
    public synchronized Place append(MemorySegment... runs) throws IOException {
        long bytes = 0;
        for (MemorySegment run : runs) {
            bytes += aligned(run.byteSize());
        }
        if (writer == null || files.getLast().byteSize() - used < bytes) {
            addFile(bytes);
        }
        long start = used;
        long at = start;
        for (MemorySegment run : runs) {
            write(run, at);
            at += aligned(run.byteSize());
        }
        used = at;
        return new Place(files.getLast(), start);
    }

    /**
     * The bytes that a run takes, with those up to the next one.
     *
     * @param bytes of the run
     * @return the next multiple of 64
     */
    public static long aligned(long bytes) {
        return bytes + ALIGNMENT_BYTES - 1 & -ALIGNMENT_BYTES;
    }

    private void addFile(long bytes) throws IOException {
        if (closed) {
            throw new IllegalStateException(store + ": closed");
        }
        String folder = System.getProperty(DecodedBlocks.FOLDER_PROPERTY);
        Path path = folder == null ? Files.createTempFile("penstock-decoded-", ".tmp")
                : Files.createTempFile(Path.of(folder), "penstock-decoded-", ".tmp");
        long size = Math.max(bytes, nextFileBytes);
        RandomAccessFile next = null;
        try {
            next = new RandomAccessFile(path.toFile(), "rw");
            next.setLength(size);
            files.add(MappedFile.openWritten(path));
        } catch (IOException e) {
            if (next != null) {
                next.close();
            }
            throw new IOException(store + ": no decoded copy of " + size + " bytes can be made as " + path + ": "
                    + e.getMessage(), e);
        } finally {
            Files.deleteIfExists(path);
        }
        if (writer != null) {
            writer.close();
        }
        writer = next;
        used = 0;
        nextFileBytes = Math.min(LAST_FILE_BYTES, 2 * nextFileBytes);
    }

    private void write(MemorySegment run, long offset) throws IOException {
        try {
            writer.seek(offset);
            for (long at = 0; at < run.byteSize(); at += WRITE_BYTES) {
                int length = (int) Math.min(WRITE_BYTES, run.byteSize() - at);
                MemorySegment.copy(run, ValueLayout.JAVA_BYTE, at, chunk, 0, length);
                writer.write(chunk, 0, length);
            }
        } catch (IOException e) {
            throw new IOException(store + ": its decoded copy cannot be written: " + e.getMessage(), e);
        }
    }

    /** Gives the copy's memory and disk space back. Calling it again does nothing. */
    @Override
    public synchronized void close() {
        closed = true;
        files.forEach(MappedFile::close);
        try {
            if (writer != null) {
                writer.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
