// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.publish;

import io.penstock.io.MappedFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * The decoded copy of a store's compressed parts whose decoded sizes are unknown in advance: appends parts to unnamed
 * mapped files. The copy may be larger than memory and ends with the process. {@link DecodedBlocks} is for parts of
 * known size.
 *
 * <p>Thread-safe; one thread writes at a time.
 */
public final class DecodedSpill implements AutoCloseable {

    /** The first file's size; each file is twice as large as the one before, up to a maximum. */
    private static final long FIRST_FILE_BYTES = 64L << 20;
    private static final long LAST_FILE_BYTES = 16L << 30;
    private static final int ALIGNMENT_BYTES = 64;
    private static final int WRITE_BYTES = 1 << 20;

    public record Place(MappedFile file, long offset) {
    }

    private final Object store;
    private final List<UnnamedFile> files = new ArrayList<>();
    private final byte[] chunk = new byte[WRITE_BYTES];
    private long used;
    private long nextFileBytes = FIRST_FILE_BYTES;
    private boolean closed;

    /** Creates an empty copy, which takes no disk space. */
    public DecodedSpill(Object store) {
        this.store = store;
    }

    /**
     * Appends runs of bytes, each aligned to 64 bytes. Returns the place of the first run; the others follow at
     * distances of {@link #aligned}.
     */
    public synchronized Place append(MemorySegment... runs) throws IOException {
        long bytes = 0;
        for (MemorySegment run : runs) {
            bytes += aligned(run.byteSize());
        }
        if (files.isEmpty() || files.getLast().mapped().byteSize() - used < bytes) {
            addFile(bytes);
        }
        long start = used;
        long at = start;
        for (MemorySegment run : runs) {
            write(run, at);
            at += aligned(run.byteSize());
        }
        used = at;
        return new Place(files.getLast().mapped(), start);
    }

    /** Returns the size of a run with its padding. */
    public static long aligned(long bytes) {
        return bytes + ALIGNMENT_BYTES - 1 & -ALIGNMENT_BYTES;
    }

    private void addFile(long bytes) throws IOException {
        if (closed) {
            throw new IllegalStateException(store + ": closed");
        }
        UnnamedFile next = UnnamedFile.create(store, Math.max(bytes, nextFileBytes));
        if (!files.isEmpty()) {
            files.getLast().endWriting();
        }
        files.add(next);
        used = 0;
        nextFileBytes = Math.min(LAST_FILE_BYTES, 2 * nextFileBytes);
    }

    private void write(MemorySegment run, long offset) throws IOException {
        for (long at = 0; at < run.byteSize(); at += WRITE_BYTES) {
            int length = (int) Math.min(WRITE_BYTES, run.byteSize() - at);
            MemorySegment.copy(run, ValueLayout.JAVA_BYTE, at, chunk, 0, length);
            files.getLast().write(offset + at, chunk, 0, length);
        }
    }

    /** Frees the copy's memory and disk space. Calling it again does nothing. */
    @Override
    public synchronized void close() {
        closed = true;
        files.forEach(UnnamedFile::close);
    }
}
