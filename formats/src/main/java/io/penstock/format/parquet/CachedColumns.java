// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.CodecException;
import io.penstock.format.table.ColumnBlock;
import io.penstock.internal.PrefixSums;
import io.penstock.io.DecodeLimit;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.io.publish.DecodedCache;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
    /** The pieces of a column are looked up by so many records at least, and in an array of at most so many entries. */
    private static final int LEAST_SHIFT = 7;
    private static final int MOST_SPANS_BITS = 18;

    /** What a chunk is decoded from. */
    record Source(ParquetFiles files, ParquetPart part, ParquetColumn column, int group) {
    }

    /** Finds what a chunk is decoded from, by its number. */
    interface Sources {

        Source of(int chunk);

        /** Tells whether the file of a chunk has values of its column. */
        boolean has(int chunk);
    }

    /** A chunk in pieces. */
    private record Chunk(Source source, ChunkPages pages, Piece[] pieces) {
    }

    private final Sources sources;
    private final DecodeLimit limit;
    private final DecodedCache cache;
    private final Dictionaries dictionaries;
    private final PrefixSums groups;
    private final int columns;
    private final AtomicReferenceArray<@Nullable Chunk> chunks;
    /**
     * For each column, and each {@code 1 << shift} records, the piece that has them, if one has all and was used.
     * Written without order: of a piece a reader uses final fields, and others only after its block's version.
     */
    private final AtomicReferenceArray<@Nullable Piece @Nullable []> pieces;
    private final int shift;
    private final ConcurrentLinkedQueue<DecodeBuffers> pool = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    /**
     * Creates columns of which nothing is decoded.
     *
     * @param groups the rows of each row group
     * @param columns how many chunks a row group has
     */
    CachedColumns(DecodedCache cache, PrefixSums groups, int columns, DecodeLimit limit, Sources sources) {
        this.sources = sources;
        this.limit = limit;
        this.cache = cache;
        this.dictionaries = new Dictionaries(cache.maxBytes() / DICTIONARY_SHARE);
        this.groups = groups;
        this.columns = columns;
        this.chunks = new AtomicReferenceArray<>(groups.runs() * columns);
        this.pieces = new AtomicReferenceArray<>(columns);
        this.shift = Math.max(LEAST_SHIFT, Long.SIZE - MOST_SPANS_BITS - Long.numberOfLeadingZeros(groups.total()));
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
        long inPiece = row - chunk.pages.firstRow(index);
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

    /**
     * Copies values of one size to consecutive places: finds the places of some, then reads all of these, so that the
     * CPU waits for them together.
     *
     * @param scratch of any length: how many places are found at once
     * @return false if a value is missing, has another size, or is not in reach; then nothing is known of the target
     */
    boolean gather(int column, long[] records, int count, long valueBytes, MemorySegment target, long targetOffset,
            long[] scratch) {
        long size = groups.total();
        if (count == 0) {
            return true;
        }
        @Nullable Piece[] near = pieces(column);
        for (int done = 0, attempts = 0; done < count; attempts++) {
            int some = Math.min(scratch.length, count - done);
            long drops = cache.drops();
            MappedFile file = null;
            for (int i = 0; i < some; i++) {
                long record = records[done + i];
                if (record < 0 || record >= size) {
                    return false;
                }
                Piece piece = near[(int) (record >>> shift)];
                if (piece == null) {
                    piece = find(column, record, near);
                    if (piece == null) {
                        return false;
                    }
                }
                int _ = piece.block.use();
                if (piece.file != file) {
                    if (file != null) {
                        return false;
                    }
                    file = piece.file;
                }
                long place = piece.evenBytes == valueBytes ? piece.evenBase + record * valueBytes
                        : piece.placeOf(record, valueBytes);
                if (place < 0) {
                    return false;
                }
                scratch[i] = place;
            }
            copy(Objects.requireNonNull(file).mapping(), scratch, some, valueBytes, target,
                    targetOffset + done * valueBytes);
            if (cache.drops() == drops) {
                done += some;
                attempts = -1;
            } else if (attempts > 0) {
                return false;
            }
        }
        return true;
    }

    private @Nullable Piece[] pieces(int column) {
        @Nullable Piece[] found = pieces.getAcquire(column);
        if (found == null) {
            @Nullable Piece[] made = new Piece[(int) (groups.total() - 1 >>> shift) + 1];
            found = pieces.compareAndExchange(column, null, made);
            found = found == null ? made : found;
        }
        return found;
    }

    /** Finds the piece of a record, by its row group; null if the file has no value of the column. */
    private @Nullable Piece find(int column, long record, @Nullable Piece[] near) {
        int group = groups.runOf(record);
        int number = group * columns + column;
        Chunk chunk = chunks.getAcquire(number);
        if (chunk == null) {
            if (!sources.has(number)) {
                return null;
            }
            chunk = open(number);
        }
        Piece piece = chunk.pieces[chunk.pages.pieceOf(record - groups.start(group))];
        long span = record >>> shift;
        if (span << shift >= piece.firstRecord && (span + 1 << shift) <= piece.firstRecord + piece.rows) {
            near[(int) span] = piece;
        }
        return piece;
    }

    private static void copy(MemorySegment from, long[] places, int count, long bytes, MemorySegment target, long at) {
        if (bytes == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                target.set(LittleEndian.I64, at + 8L * i, from.get(LittleEndian.I64, places[i]));
            }
        } else if (bytes == Integer.BYTES) {
            for (int i = 0; i < count; i++) {
                target.set(LittleEndian.I32, at + 4L * i, from.get(LittleEndian.I32, places[i]));
            }
        } else if (bytes == 1) {
            for (int i = 0; i < count; i++) {
                target.set(ValueLayout.JAVA_BYTE, at + i, from.get(ValueLayout.JAVA_BYTE, places[i]));
            }
        } else {
            for (int i = 0; i < count; i++) {
                MemorySegment.copy(from, places[i], target, at + bytes * i, bytes);
            }
        }
    }

    byte state(int number, long row) {
        Chunk chunk = chunk(number);
        int index = chunk.pages.pieceOf(row);
        Piece piece = chunk.pieces[index];
        while (true) {
            int version = piece.block.use();
            byte state = Objects.requireNonNull(piece.placed).state(row - chunk.pages.firstRow(index));
            if (piece.block.isStill(version)) {
                return state;
            }
        }
    }

    /** Sets a span to what is needed first: a remote file's pages, which its cache plans, or the decoded block. */
    private void plan(Chunk chunk, Piece piece, Span into) {
        if (chunk.source.part.isRemote()) {
            into.set(chunk.source.files.kept(chunk.source.part), piece.bytes.start(), piece.bytes.byteSize());
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
            found = source.files.reading(source.part, (file, metadata) -> new Chunk(source, pages(source.column, file,
                    metadata.groups().get(source.group)), new Piece[0]));
            Piece[] pieces = new Piece[found.pages.count()];
            for (int i = 0; i < pieces.length; i++) {
                pieces[i] = new Piece(number, source, found.pages, i);
            }
            found = new Chunk(source, found.pages, pieces);
            chunks.setRelease(number, found);
        }
        return found;
    }

    private static ChunkPages pages(ParquetColumn column, MappedFile file, RowGroup group) {
        return switch (column) {
            case Flat flat -> ChunkPages.of(file, group.chunks().get(flat.leaf().index()), flat.leaf(), group.rows());
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
        private final long firstRecord;
        private final long rows;
        private final DecodedCache.Block block;
        /** Written once, before the block is there. */
        private volatile @Nullable ColumnBlock placed;
        /** Of what was decoded: its file; and if all have values of one size, that, and where record 0 would be. */
        private @Nullable MappedFile file;
        private long evenBytes = -1;
        private long evenBase;

        Piece(int chunk, Source source, ChunkPages pages, int index) {
            this.chunk = chunk;
            this.source = source;
            this.dictionary = pages.dictionary();
            this.bytes = pages.piece(index);
            this.isWhole = pages.count() == 1;
            this.rows = pages.rows(index);
            this.firstRecord = groups.start(chunk / columns) + pages.firstRow(index);
            this.block = cache.add(this);
        }

        /** Returns where the value of a record is in the file, if it was decoded; -1 if not of this size. */
        long placeOf(long record, long valueBytes) {
            return Objects.requireNonNull(placed).placeOf(record - firstRecord, valueBytes);
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
            DecodeLimit.Budget budget = placed == null ? source.files.budget(source.part)
                    : limit.budget(source.part.location(), source.part.byteSize());
            DecodeBuffers buffers = pool.poll();
            if (buffers == null) {
                buffers = new DecodeBuffers();
            }
            try {
                DecodeBuffers used = buffers;
                ColumnBlock decoded = source.files.reading(source.part, (file, metadata) -> decode(file,
                        metadata.groups().get(source.group), budget, used, into::write));
                if (placed != null && !decoded.equals(placed)) {
                    throw new IOException(source.part.location() + ": rows that decode to other sizes than before: has"
                            + " the file changed?");
                }
                if (placed == null) {
                    file = decoded.place().file();
                    evenBytes = evenBytes(decoded);
                    evenBase = decoded.valuesAt() - firstRecord * evenBytes;
                    placed = decoded;
                }
            } finally {
                if (closed || buffers.byteSize() > MOST_POOLED_BYTES) {
                    buffers.close();
                } else {
                    pool.add(buffers);
                }
            }
        }

        /** Returns the size of each row's value, if all have one, and of the same size; or else -1. */
        private long evenBytes(ColumnBlock decoded) {
            if (decoded.statesAt() >= 0) {
                return -1;
            }
            return decoded.offsetsAt() < 0 ? decoded.valueBytes()
                    : source.column instanceof Flat flat && flat.listLength() >= 0
                    ? flat.listLength() * decoded.valueBytes() : -1;
        }

        private ColumnBlock decode(MappedFile file, RowGroup group, DecodeLimit.Budget budget, DecodeBuffers buffers,
                ColumnBlock.Copy copy) throws IOException {
            ColumnBlock.Copy checked = runs -> {
                file.checkUnchanged();
                return copy.append(runs);
            };
            if (isWhole || !(source.column instanceof Flat flat)) {
                return source.column.decode(file, group, budget, buffers, checked);
            }
            ColumnChunk of = group.chunks().get(flat.leaf().index());
            try (Dictionaries.Lease lease = dictionaries.of(chunk, memory -> dictionary.isEmpty() ? null
                    : LeafTiles.dictionary(file, flat.leaf(), of, dictionary, buffers, memory, budget));
                    ChunkDecoder decoder = new ChunkDecoder(flat, of.values(), bytes.byteSize(),
                            rows, new LeafTiles(file, flat.leaf(), of, bytes,
                                    flat.isList() ? -1 : rows, lease.dictionary(), buffers, budget), buffers,
                            budget)) {
                return decoder.decode(checked);
            } catch (CodecException e) {
                throw new UncheckedIOException(new IOException(file.location() + ": " + e.getMessage(), e));
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
