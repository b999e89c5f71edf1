// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import io.penstock.codec.decoder.Compression;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.arrow.ArrowNode.Slot;
import io.penstock.io.MappedFile;
import io.penstock.memory.LittleEndian;
import org.jspecify.annotations.Nullable;

/**
 * A record batch as its metadata describe it: nodes (lengths and null counts) and buffers, in the order of a walk over
 * the schema. Every buffer is checked to be within the batch's body.
 */
final class ArrowBatch {

    private static final int NODE_BYTES = 16;
    private static final int BUFFER_BYTES = 16;
    private static final int SIZE_PREFIX_BYTES = 8;

    private final MappedFile file;
    private final long bodyStart;
    private final long bodyBytes;
    private final FlatTable table;
    private final FlatTable.Vector nodes;
    private final FlatTable.Vector buffers;
    private final FlatTable.Vector variadicCounts;
    private final Compression compression;
    /** Before version 5 of the metadata, arrays of all types had bitmaps. */
    private final boolean isBeforeV5;
    private final long rows;

    /** Creates the batch of a record batch message, or of a dictionary message. */
    ArrowBatch(MappedFile file, FlatTable table, ArrowMessage message) {
        this.file = file;
        this.table = table;
        this.bodyStart = message.bodyStart();
        this.bodyBytes = message.bodyBytes();
        this.isBeforeV5 = message.version() < ArrowMessage.V5;
        this.rows = table.i64(0, 0);
        this.nodes = table.vector(1, NODE_BYTES);
        this.buffers = table.vector(2, BUFFER_BYTES);
        this.variadicCounts = table.vector(4, Long.BYTES);
        this.compression = compression(table.table(3));
        if (rows < 0) {
            throw table.malformed("a batch of " + rows + " rows", "0 or more");
        }
    }

    MappedFile file() {
        return file;
    }

    long rows() {
        return rows;
    }

    /** Reads the compression of the batch's buffers, each by itself; a null table means none. */
    private static Compression compression(@Nullable FlatTable table) {
        if (table == null) {
            return Compression.NONE;
        }
        if (table.u8(1, 0) != 0) {
            throw table.malformed("compression by method " + table.u8(1, 0), "0, each buffer by itself");
        }
        return switch (table.u8(0, 0)) {
            case 0 -> Compression.LZ4_FRAME;
            case 1 -> Compression.ZSTD;
            default -> throw table.malformed("compression by codec " + table.u8(0, 0), "0 (lz4) or 1 (zstd)");
        };
    }

    Compression compression() {
        return compression;
    }

    MalformedStoreException malformed(String found, String expected) {
        return table.malformed(found, expected);
    }

    /** Returns the length of a node's array. */
    long length(int node, String column) {
        if (node >= nodes.count()) {
            throw malformed("a batch of " + nodes.count() + " nodes", "as many as the schema has, which are more");
        }
        long length = nodes.i64(node, 0);
        long nulls = nodes.i64(node, Long.BYTES);
        if (length < 0 || nulls < -1 || nulls > length) {
            throw malformed("column '" + column + "' of " + length + " values, " + nulls + " of them null",
                    "0 or more, and no more nulls than values");
        }
        return length;
    }

    /** Returns a node's null count; -1 if the writer did not count them. */
    long nulls(int node) {
        return nodes.i64(node, Long.BYTES);
    }

    /** A buffer in the file; {@code decodedBytes} is -1 if it is not compressed. */
    record Stored(long offset, long bytes, long decodedBytes) {

        /** Returns the size of the decoded buffer. */
        long size() {
            return decodedBytes < 0 ? bytes : decodedBytes;
        }
    }

    /** Returns the number of data buffers of the first views. */
    int dataBuffers(int viewsBefore) {
        long count = viewsBefore < variadicCounts.count() ? variadicCounts.i64(viewsBefore, 0) : -1;
        if (count < 0 || count > buffers.count()) {
            throw malformed(count + " data buffers of a view", "0 to " + buffers.count());
        }
        return (int) count;
    }

    boolean has(Slot slot) {
        return isBeforeV5 || !slot.isOlder();
    }

    Stored buffer(Slot slot, String column) {
        long index = slot.index() + (isBeforeV5 ? slot.olderBefore() : 0);
        for (int i = 0; i < slot.viewsBefore(); i++) {
            index += dataBuffers(i);
        }
        if (index >= buffers.count()) {
            throw malformed("a batch of " + buffers.count() + " buffers", "as many as the schema has, which are more");
        }
        long offset = buffers.i64(index, 0);
        long bytes = buffers.i64(index, Long.BYTES);
        if (offset < 0 || bytes < 0 || offset > bodyBytes || bytes > bodyBytes - offset) {
            throw malformed("column '" + column + "': a buffer of " + bytes + " bytes from " + offset,
                    "one within the body's " + bodyBytes);
        }
        long start = bodyStart + offset;
        if (compression == Compression.NONE || bytes == 0) {
            return new Stored(start, bytes, -1);
        }
        if (bytes < SIZE_PREFIX_BYTES) {
            throw new MalformedStoreException(file.location(), start, "column '" + column + "': a compressed buffer of "
                    + bytes + " bytes", "at least " + SIZE_PREFIX_BYTES);
        }
        long decoded = file.range(start, SIZE_PREFIX_BYTES).get(LittleEndian.I64, 0);
        long packed = bytes - SIZE_PREFIX_BYTES;
        if (decoded < -1 || decoded > packed * compression.maxExpansion()) {
            throw new MalformedStoreException(file.location(), start, "column '" + column + "': " + packed
                    + " bytes that decode to " + decoded,
                    "-1, or at most " + compression.maxExpansion() + " times as many");
        }
        return new Stored(start + SIZE_PREFIX_BYTES, packed, decoded);
    }
}
