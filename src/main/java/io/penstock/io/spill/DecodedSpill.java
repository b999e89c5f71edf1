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
 * The decoded copy of a store's compressed parts whose decoded sizes are unknown in advance: appends parts to unnamed
 * mapped files. The copy may be larger than memory and ends with the process. {@link DecodedBlocks} is for parts of
 * known size; both take disk space in the folder of {@value DecodedBlocks#FOLDER_PROPERTY}.
 *
 * <p>Thread-safe; one thread writes at a time.
 */
public final class DecodedSpill implements AutoCloseable {

    /** The first file's size; each file is twice as large as the one before, up to a maximum. */
    private static final long FIRST_FILE_BYTES = 64L << 20;
    private static final long LAST_FILE_BYTES = 16L << 30;
    private static final int ALIGNMENT_BYTES = 64;
    private static final int WRITE_BYTES = 1 << 20;

    /**
     * The place of a part.
     *
     * @param file the file that holds it
     * @param offset its first byte
     */
    public record Place(MappedFile file, long offset) {
    }

    private final Object store;
    private final List<MappedFile> files = new ArrayList<>();
    private final byte[] chunk = new byte[WRITE_BYTES];
    /** The last file, for writing. Not a channel: interrupting a writing thread would close it for all. */
    private RandomAccessFile writer;
    private long used;
    private long nextFileBytes = FIRST_FILE_BYTES;
    private boolean closed;

    /**
     * Creates an empty copy, which takes no disk space.
     *
     * @param store the store's name for messages
     */
    public DecodedSpill(Object store) {
        this.store = store;
    }

    /**
     * Appends runs of bytes, each aligned to 64 bytes.
     *
     * @param runs the bytes
     * @return the place of the first run; the others follow at distances of {@link #aligned}
     * @throws IOException if the disk is full
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
     * Returns the size of a run with its padding.
     *
     * @param bytes the run's size
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
            throw new IOException(store + ": cannot create a decoded copy of " + size + " bytes as " + path + ": "
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

    /** Frees the copy's memory and disk space. Calling it again does nothing. */
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
