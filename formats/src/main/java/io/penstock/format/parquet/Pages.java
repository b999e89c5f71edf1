// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.codec.decoder.Compression;
import io.penstock.error.CodecException;
import io.penstock.error.LibraryException;
import io.penstock.error.MalformedStoreException;
import io.penstock.io.DecodeLimit;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.Locale;
import java.util.zip.CRC32;

/**
 * The pages of a column chunk, or some that follow each other: each is copied into memory, checked by its CRC if it has
 * one, and decompressed there. Native code never gets the mapping itself. If they are few, all of them are read at
 * first, which costs less than the faults of a mapping; so are those of a remote file, whose cache may then drop them
 * again. For one thread.
 */
final class Pages {

    /** Small pages may expand to this size, whatever their ratio. */
    private static final long SMALL_BYTES = 128 << 10;
    /** More than the header of a dictionary takes. */
    private static final long MOST_HEADER_BYTES = 1024;
    private static final long MOST_COPIED_BYTES = 4 << 20;

    private final MappedFile file;
    private final ColumnChunk chunk;
    private final DecodeLimit.Budget budget;
    private long end;
    private final SegmentAllocator dictionaryMemory;
    private final NativeBuffer stored;
    private final NativeBuffer decoded;
    /** The mapping, or a copy of the pages, with slack behind it; and the byte of the file that is its first. */
    private final MemorySegment source;
    private final boolean isCopied;
    private final long origin;
    private final long sourceEnd;
    private long at;
    private long headerAt;
    @SuppressWarnings("NullAway.Init") // by next
    private PageHeader header;

    /** Opens pages; the caller frees {@code dictionaryMemory} after the last use. */
    Pages(MappedFile file, ColumnChunk chunk, ColumnChunk.Range pages, DecodeBuffers buffers,
            SegmentAllocator dictionaryMemory, DecodeLimit.Budget budget) {
        this.file = file;
        this.chunk = chunk;
        this.budget = budget;
        this.dictionaryMemory = dictionaryMemory;
        this.stored = buffers.stored;
        this.decoded = buffers.decoded;
        this.at = pages.start();
        this.end = pages.end();
        this.isCopied = file.isRemote() || pages.byteSize() <= MOST_COPIED_BYTES;
        if (isCopied) {
            long beyond = Math.clamp(file.byteSize() - FileMetadata.TAIL_BYTES - end, 0, MOST_HEADER_BYTES);
            this.source = buffers.copied(file, at, pages.byteSize() + beyond, PageBytes.SLACK_BYTES);
            this.origin = at;
        } else {
            this.source = file.mapping();
            this.origin = 0;
        }
        this.sourceEnd = origin + source.byteSize() - (isCopied ? PageBytes.SLACK_BYTES : 0);
    }

    /** Tells whether there is no other page. */
    boolean isAtEnd() {
        return at >= end;
    }

    /** Goes to the next page; returns its header. */
    PageHeader next() throws IOException {
        headerAt = at;
        if (at >= end) {
            throw new MalformedStoreException(file.location(), at, "the end of a column chunk's pages",
                    "more values of " + chunk.name());
        }
        ThriftReader in = new ThriftReader(file.location(), source, origin, at - origin, end - origin);
        header = PageHeader.read(in);
        at = origin + in.position();
        if (header.kind() == PageHeader.Kind.DICTIONARY) {
            // Parquet-mr before 1.2.9 leaves the size of this header out of the chunk's (IMPALA-694).
            long left = Math.min(file.byteSize() - FileMetadata.TAIL_BYTES, sourceEnd) - end;
            end += Math.clamp(left, 0, at - headerAt);
        }
        if (header.compressedBytes() > end - at) {
            throw malformed("a page of " + header.compressedBytes() + " bytes", "at most the " + (end - at)
                    + " that the column chunk has left");
        }
        at += header.compressedBytes();
        return header;
    }

    /** The memory of a dictionary. */
    SegmentAllocator dictionaryMemory() {
        return dictionaryMemory;
    }

    /** Returns the bytes of a dictionary page, which stay valid. */
    PageBytes dictionaryBytes() throws IOException {
        PageBytes page = bytes();
        MemorySegment kept = dictionaryMemory.allocate(page.left() + PageBytes.SLACK_BYTES, Long.BYTES);
        MemorySegment.copy(page.segment, page.at, kept, 0, page.left());
        return new PageBytes(kept, 0, page.left());
    }

    /** Returns the page, checked; copies it if it is in the mapping. Behind it is slack. */
    private MemorySegment load() throws IOException {
        int bytes = header.compressedBytes();
        MemorySegment page;
        if (isCopied) {
            page = source.asSlice(at - bytes - origin, bytes);
        } else {
            stored.truncate(0);
            stored.reserve((long) bytes + PageBytes.SLACK_BYTES);
            MemorySegment.copy(source, at - bytes - origin, stored.segment(), 0, bytes);
            page = stored.segment().asSlice(0, bytes);
        }
        if (header.crc() != null) {
            CRC32 crc = new CRC32();
            crc.update(page.asByteBuffer());
            if ((int) crc.getValue() != header.crc()) {
                throw malformed(String.format(Locale.ROOT, "a page with the CRC %08x", (int) crc.getValue()),
                        String.format(Locale.ROOT, "%08x", header.crc()));
            }
        }
        return page;
    }

    /** Returns the decompressed page: its levels, if any, and its values. */
    PageBytes bytes() throws IOException {
        MemorySegment page = load();
        int skip = header.definitionBytes() + header.repetitionBytes();
        int bytes = header.uncompressedBytes() - skip;
        boolean isCompressed = header.isCompressed() || chunk.isAlwaysCompressed();
        if (!isCompressed || chunk.compression() == Compression.NONE) {
            if (header.uncompressedBytes() != page.byteSize()) {
                throw malformed("a page of " + page.byteSize() + " bytes that is not compressed",
                        header.uncompressedBytes() + ", as it says");
            }
            long start = isCopied ? at - page.byteSize() - origin : 0;
            return new PageBytes(isCopied ? source : stored.segment(), start, start + page.byteSize());
        }
        if (bytes > (page.byteSize() - skip) * chunk.compression().maxExpansion() + SMALL_BYTES) {
            throw malformed("a page of " + page.byteSize() + " bytes, compressed with " + chunk.compression()
                    + " from " + header.uncompressedBytes(), "a ratio that it can have");
        }
        budget.check(bytes);
        decoded.truncate(0);
        decoded.reserve((long) skip + bytes + PageBytes.SLACK_BYTES);
        MemorySegment.copy(page, 0, decoded.segment(), 0, skip);
        if (bytes > 0) {
            try {
                chunk.compression().decode(page.asSlice(skip), decoded.segment().asSlice(skip, bytes));
            } catch (LibraryException e) {
                throw e;
            } catch (CodecException e) {
                throw malformed(String.valueOf(e.getMessage()), "a whole page");
            }
        }
        return new PageBytes(decoded.segment(), 0, (long) skip + bytes);
    }

    MalformedStoreException malformed(String found, String expected) {
        return new MalformedStoreException(file.location(), headerAt, chunk.name() + ": " + found, expected);
    }

}
