// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A run of bytes in a mapped file or in memory. It is a mutable cursor that one thread moves from sample to sample, so
 * locating a sample allocates nothing.
 *
 * <p>The bytes belong to a store and are valid while it is open.
 */
public final class Span {

    private @Nullable MappedFile file;
    private MemorySegment segment = MemorySegment.NULL;
    private long byteOffset;
    private long byteSize;
    private final boolean isAhead;

    /** Creates an empty span. */
    public Span() {
        this(false);
    }

    private Span(boolean isAhead) {
        this.isAhead = isAhead;
    }

    /**
     * {@return an empty span for plans, whose bytes are never read} A store that would have to decode a value to locate
     * it sets this to what it would read or decode.
     */
    public static Span ahead() {
        return new Span(true);
    }

    /** {@return whether this is for a plan: nobody reads its bytes} */
    public boolean isAhead() {
        return isAhead;
    }

    /**
     * Sets this to bytes of a mapped file.
     *
     * @param file the file
     * @param byteOffset the first byte
     * @param byteSize the number of bytes
     */
    public void set(MappedFile file, long byteOffset, long byteSize) {
        // Store a reference only if it changes: the collector's write barrier costs more than the comparison.
        if (this.file != file) {
            this.file = file;
            this.segment = file.mapping();
        }
        this.byteOffset = byteOffset;
        this.byteSize = byteSize;
    }

    /**
     * Sets this to bytes of memory.
     *
     * @param segment the memory
     * @param byteOffset the first byte
     * @param byteSize the number of bytes
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
     * Sets this to a part of another span.
     *
     * @param whole the other span
     * @param skipBytes bytes to skip at its start
     * @param bytes the number of bytes follow
     * @throws IndexOutOfBoundsException if the part is outside the other span
     */
    public void setPart(Span whole, long skipBytes, long bytes) {
        Objects.checkFromIndexSize(skipBytes, bytes, whole.byteSize);
        file = whole.file;
        segment = whole.segment;
        byteOffset = whole.byteOffset + skipBytes;
        byteSize = bytes;
    }

    /** {@return the file that holds the bytes, or null if they are in memory} */
    public @Nullable MappedFile file() {
        return file;
    }

    /**
     * {@return the base of {@link #byteOffset}: the whole mapping, or the memory} Fetches missing bytes of the span,
     * but of no others.
     *
     * @throws UncheckedIOException if the fetch fails; names the file
     */
    public MemorySegment segment() {
        if (file != null) {
            file.require(byteOffset, byteSize);
        }
        return segment;
    }

    /**
     * {@return the bytes alone: a slice of {@link #segment}} Each call makes an object; loops over samples use the base
     * and the offset.
     *
     * @throws UncheckedIOException if bytes are missing and cannot be fetched; names the file
     */
    public MemorySegment slice() {
        return segment().asSlice(byteOffset, byteSize);
    }

    /**
     * {@return whether another span is in the same file or memory}
     *
     * @param other the other span
     */
    public boolean isBeside(Span other) {
        return segment == other.segment && file == other.file;
    }

    /** Returns the base of {@link #byteOffset}, for readers that fetch what they read. */
    MemorySegment base() {
        return segment;
    }

    /** {@return the first byte within {@link #segment}} */
    public long byteOffset() {
        return byteOffset;
    }

    /** {@return the number of bytes} */
    public long byteSize() {
        return byteSize;
    }
}
