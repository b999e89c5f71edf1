// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.CodecException;
import io.penstock.format.table.ColumnBlock;
import io.penstock.io.DecodeLimit;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.publish.DecodedCache;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The column chunks of a store, decoded page by page into bounded memory: a look-up decodes the page of its row unless
 * it is there, and a loader's plan decodes pages before they are looked up. Lists without an index of their pages, and
 * nested columns, are decoded a row group at a time. Thread-safe.
 */
final class CachedColumns implements AutoCloseable {

    private static final long DICTIONARY_SHARE = 8;
    /** Buffers that grew larger are freed after use. */
    private static final long MOST_POOLED_BYTES = 64L << 20;

    /** What a chunk is decoded from. */
    record Source(MappedFile file, ParquetColumn column, RowGroup group, DecodeLimit.Budget budget) {
    }

    /** Finds what a chunk is decoded from, by its number. */
    @FunctionalInterface
    interface Sources {

        Source of(int chunk);
    }

    /** A chunk in pieces. */
    private record Chunk(Source source, ChunkPages pages, Piece[] pieces) {
    }

    private final Sources sources;
    private final DecodeLimit limit;
    private final DecodedCache cache;
    private final Dictionaries dictionaries;
    private final AtomicReferenceArray<@Nullable Chunk> chunks;
    private final ConcurrentLinkedQueue<DecodeBuffers> pool = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    CachedColumns(DecodedCache cache, int chunkCount, DecodeLimit limit, Sources sources) {
        this.sources = sources;
        this.limit = limit;
        this.cache = cache;
        this.dictionaries = new Dictionaries(cache.maxBytes() / DICTIONARY_SHARE);
        this.chunks = new AtomicReferenceArray<>(chunkCount);
    }

    DecodedCache cache() {
        return cache;
    }

    /** Returns a row's state, as {@link ColumnBlock} has them; locates its value if it has one. */
    byte locate(int number, long row, Span into) {
        Chunk chunk = chunk(number);
        int index = chunk.pages.pieceOf(row);
        Piece piece = chunk.pieces[index];
        if (into.isAhead()) {
            plan(chunk, piece, into);
            return ColumnBlock.PRESENT;
        }
        long inPiece = row - chunk.pages.firstRows()[index];
        while (true) {
            int version = piece.block.use();
            ColumnBlock block = Objects.requireNonNull(piece.placed);
            byte state = block.state(inPiece);
            if (state == ColumnBlock.PRESENT) {
                block.locate(inPiece, into);
            }
            if (piece.block.isStill(version)) {
                return state;
            }
        }
    }

    /** Returns the decoded rows among which a row is. */
    Piece find(int number, long row) {
        Chunk chunk = chunk(number);
        Piece piece = chunk.pieces[chunk.pages.pieceOf(row)];
        int _ = piece.block.use();
        return piece;
    }

    byte state(int number, long row) {
        Chunk chunk = chunk(number);
        int index = chunk.pages.pieceOf(row);
        Piece piece = chunk.pieces[index];
        while (true) {
            int version = piece.block.use();
            byte state = Objects.requireNonNull(piece.placed).state(row - chunk.pages.firstRows()[index]);
            if (piece.block.isStill(version)) {
                return state;
            }
        }
    }

    /** Sets a span to what is needed first: a remote file's pages, which its cache plans, or the decoded block. */
    private void plan(Chunk chunk, Piece piece, Span into) {
        if (chunk.source.file.isRemote()) {
            into.set(chunk.source.file, piece.bytes.start(), piece.bytes.byteSize());
        } else {
            into.set(cache.planFile(), cache.planOffset(piece.block), 1);
        }
    }

    private Chunk chunk(int number) {
        Chunk found = chunks.getAcquire(number);
        return found != null ? found : open(number);
    }

    private synchronized Chunk open(int number) {
        Chunk found = chunks.getAcquire(number);
        if (found == null) {
            Source source = sources.of(number);
            found = source.file.reading(() -> new Chunk(source, pages(source), new Piece[0]));
            Piece[] pieces = new Piece[found.pages.count()];
            for (int i = 0; i < pieces.length; i++) {
                pieces[i] = new Piece(number, source, found.pages, i);
            }
            found = new Chunk(source, found.pages, pieces);
            chunks.setRelease(number, found);
        }
        return found;
    }

    private static ChunkPages pages(Source source) {
        RowGroup group = source.group;
        return switch (source.column) {
            case Flat flat -> ChunkPages.of(source.file, group.chunks().get(flat.leaf().index()), flat.leaf(),
                    group.rows());
            case Nested nested -> ChunkPages.whole(group.chunks().get(nested.leaves().getFirst().index()),
                    group.rows());
        };
    }

    /** Some pages of a chunk, or for a nested column all of its leaves. */
    final class Piece implements DecodedCache.Decoder {

        private final int chunk;
        private final Source source;
        private final ColumnChunk.Range dictionary;
        private final ColumnChunk.Range bytes;
        private final boolean isWhole;
        private final long firstRow;
        private final long rows;
        private final DecodedCache.Block block;
        /** Written once, before the block is there. */
        private volatile @Nullable ColumnBlock placed;

        Piece(int chunk, Source source, ChunkPages pages, int index) {
            this.chunk = chunk;
            this.source = source;
            this.dictionary = pages.dictionary();
            this.bytes = pages.piece(index);
            this.isWhole = pages.count() == 1;
            this.firstRow = pages.firstRows()[index];
            this.rows = pages.rows(index);
            this.block = cache.add(this);
        }

        /** Returns the file of what was decoded. */
        MappedFile file() {
            return Objects.requireNonNull(placed).place().file();
        }

        /** Returns where the value of a row of the group is in the file, if it was decoded; -1 if not of this size. */
        long placeOf(long row, long valueBytes) {
            return Objects.requireNonNull(placed).placeOf(row - firstRow, valueBytes);
        }

        @Override
        public long estimatedBytes() {
            return source.column instanceof Flat flat && !flat.isList() && !flat.leaf().isBinary()
                    ? rows * flat.byteSize() : 2 * bytes.byteSize();
        }

        @Override
        public long values() {
            return rows;
        }

        @Override
        public void decode(DecodedCache.Into into) throws IOException {
            // Only what is decoded for the first time counts against the file's limit.
            DecodeLimit.Budget budget = placed == null ? source.budget
                    : limit.budget(source.file.location(), source.file.byteSize());
            DecodeBuffers buffers = pool.poll();
            if (buffers == null) {
                buffers = new DecodeBuffers();
            }
            try {
                DecodeBuffers used = buffers;
                ColumnBlock decoded = source.file.reading(() -> decode(budget, used, into::write));
                if (placed != null && !decoded.equals(placed)) {
                    throw new IOException(source.file.location() + ": rows that decode to other sizes than before: has"
                            + " the file changed?");
                }
                placed = decoded;
            } finally {
                if (closed || buffers.byteSize() > MOST_POOLED_BYTES) {
                    buffers.close();
                } else {
                    pool.add(buffers);
                }
            }
        }

        private ColumnBlock decode(DecodeLimit.Budget budget, DecodeBuffers buffers, ColumnBlock.Copy copy)
                throws IOException {
            ColumnBlock.Copy checked = runs -> {
                source.file.checkUnchanged();
                return copy.append(runs);
            };
            if (isWhole || !(source.column instanceof Flat flat)) {
                return source.column.decode(source.file, source.group, budget, buffers, checked);
            }
            ColumnChunk of = source.group.chunks().get(flat.leaf().index());
            try (Dictionaries.Lease lease = dictionaries.of(chunk, memory -> dictionary.isEmpty() ? null
                    : LeafTiles.dictionary(source.file, flat.leaf(), of, dictionary, buffers, memory, budget));
                    ChunkDecoder decoder = new ChunkDecoder(flat, of.values(), bytes.byteSize(),
                            rows, new LeafTiles(source.file, flat.leaf(), of, bytes,
                                    flat.isList() ? -1 : rows, lease.dictionary(), buffers, budget), buffers,
                            budget)) {
                return decoder.decode(checked);
            } catch (CodecException e) {
                throw new UncheckedIOException(new IOException(source.file.location() + ": " + e.getMessage(), e));
            }
        }
    }

    @Override
    public void close() {
        cache.close();
        closed = true;
        dictionaries.close();
        for (DecodeBuffers buffers = pool.poll(); buffers != null; buffers = pool.poll()) {
            buffers.close();
        }
    }
}
