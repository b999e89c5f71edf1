package io.penstock.io;

import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A run of bytes in a mapped file or in memory: a mutable cursor that one thread points at sample after sample, so
 * that locating a sample allocates nothing.
 *
 * <p>Whoever locates sets it; the bytes belong to the store behind it and are valid as long as that is open.
 */
public final class Span {

    private MappedFile file;
    private MemorySegment segment = MemorySegment.NULL;
    private long byteOffset;
    private long byteSize;

    /** A span of no bytes. */
    public Span() {
    }

    /**
     * Points at bytes of a mapped file.
     *
     * @param file the file
     * @param byteOffset the first byte
     * @param byteSize how many
     */
    public void set(MappedFile file, long byteOffset, long byteSize) {
        // A reference is stored only when it changes: the collector's write barrier costs more than the comparison.
        if (this.file != file) {
            this.file = file;
            this.segment = file.mapping();
        }
        this.byteOffset = byteOffset;
        this.byteSize = byteSize;
    }

    /**
     * Points at bytes of memory.
     *
     * @param segment the memory
     * @param byteOffset the first byte
     * @param byteSize how many
     */
    public void set(MemorySegment segment, long byteOffset, long byteSize) {
        if (this.segment != segment || this.file != null) {
            this.file = null;
            this.segment = segment;
        }
        this.byteOffset = byteOffset;
        this.byteSize = byteSize;
    }

    /**
     * Points at a part of another span.
     *
     * @param whole the other span
     * @param skipBytes bytes to leave out at its start
     * @param bytes how many follow
     * @throws IndexOutOfBoundsException if the part is not within the other span
     */
    public void setPart(Span whole, long skipBytes, long bytes) {
        Objects.checkFromIndexSize(skipBytes, bytes, whole.byteSize);
        file = whole.file;
        segment = whole.segment;
        byteOffset = whole.byteOffset + skipBytes;
        byteSize = bytes;
    }

    /**
     * The file that holds the bytes.
     *
     * @return the file, or null if they are in memory
     */
    public MappedFile file() {
        return file;
    }

    /**
     * What {@link #byteOffset} counts in: the whole mapping, or the memory that was given. The span's own bytes are
     * fetched if they are not there; of others nothing is promised.
     *
     * @return the segment
     * @throws UncheckedIOException if they cannot be fetched; names the file
     */
    public MemorySegment segment() {
        if (file != null) {
            file.require(byteOffset, byteSize);
        }
        return segment;
    }

    /**
     * Whether the offsets of another span count in the same file or memory.
     *
     * @param other the other span
     * @return true if so
     */
    public boolean isBeside(Span other) {
        return segment == other.segment && file == other.file;
    }

    /** What {@link #byteOffset} counts in, for readers that require what they read. */
    MemorySegment base() {
        return segment;
    }

    /**
     * The first byte within {@link #segment}.
     *
     * @return the offset
     */
    public long byteOffset() {
        return byteOffset;
    }

    /**
     * How many bytes.
     *
     * @return the length
     */
    public long byteSize() {
        return byteSize;
    }
}
