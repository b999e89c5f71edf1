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
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
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
    /** Of a place in a decoded file, the low bits are the byte, the others the number of the file. */
    private static final int FILE_SHIFT = 48;
    private static final long PLACE = (1L << FILE_SHIFT) - 1;
    private static final int MOST_FILES = 1 << Long.SIZE - 1 - FILE_SHIFT;
    private static final int MOST_AT_ONCE = 4096;
    private static final int FEWER_AT_ONCE = 8;
    private static final int MOST_ATTEMPTS = 6;
    /** One of so many values that are gathered is counted, as so many uses. */
    private static final int USES = 32;

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

    /**
     * A column's pieces for each {@code 1 << shift} records, if one piece has all of them and is decoded. Written under
     * the cache's lock, and read without order: see {@link DecodedCache.Decoder#placed}.
     */
    private static final class Spans {

        private static final VarHandle BASES = MethodHandles.arrayElementVarHandle(long[].class);

        private final @Nullable Piece[] pieces;
        /** Where record 0 of the store would be, if the values of a piece have one size; negative if not. */
        private final long[] bases;
        /** How many values are located before they are copied; races do no harm. */
        private int atOnce = MOST_AT_ONCE;
        /** The size of the values in all that have a base; 0 if none has. */
        private long width;

        Spans(int count) {
            pieces = new Piece[count];
            bases = new long[count];
            Arrays.fill(bases, Long.MIN_VALUE);
        }

        void set(int first, int end, Piece piece, long base, long bytes) {
            if (width == 0 && bytes > 0) {
                width = bytes;
            }
            long known = width == bytes ? base : Long.MIN_VALUE;
            for (int i = first; i < end; i++) {
                BASES.setRelease(bases, i, known);
                pieces[i] = piece;
            }
        }

        void forget(int first, int end) {
            for (int i = first; i < end; i++) {
                bases[i] = Long.MIN_VALUE;
            }
        }

        /**
         * Finds places in a short loop without a branch that depends on them; a record whose piece has no base has a
         * negative one.
         *
         * @param size how many records there are
         * @param places receives them
         * @return the bits in which they differ from the first one, and the sign of that
         */
        long places(long[] records, int first, int count, long size, int shift, long bytes, long[] places) {
            if (width != bytes) {
                Arrays.fill(places, 0, count, -1);
                return -1;
            }
            long[] known = bases;
            long head = place(known, records[first], size, shift, bytes);
            long differing = head & Long.MIN_VALUE;
            for (int i = 0; i < count; i++) {
                long place = place(known, records[first + i], size, shift, bytes);
                places[i] = place;
                differing |= place ^ head;
            }
            return differing;
        }

        private static long place(long[] known, long record, long size, int shift, long bytes) {
            return Long.compareUnsigned(record, size) < 0 ? known[(int) (record >>> shift)] + record * bytes : -1;
        }
    }

    private final Sources sources;
    private final DecodeLimit limit;
    private final DecodedCache cache;
    private final Dictionaries dictionaries;
    private final PrefixSums groups;
    private final int columns;
    private final AtomicReferenceArray<@Nullable Chunk> chunks;
    /** For each column that is gathered. */
    private final AtomicReferenceArray<@Nullable Spans> spans;
    private final int shift;
    /** The files of decoded pieces, by their numbers; replaced by a longer array, under this object's lock. */
    private volatile MappedFile[] files = {};
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
        this.spans = new AtomicReferenceArray<>(columns);
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
     * @param scratch room for places, as many as are found at once
     * @return false if a value is missing, has another size, or is not in reach; then nothing is known of the target
     */
    boolean gather(int column, long[] records, int count, long valueBytes, MemorySegment target, long targetOffset,
            long[] scratch) {
        if (count == 0) {
            return true;
        }
        Spans near = spans(column);
        for (int done = 0, attempts = 0; done < count;) {
            int some = Math.min(Math.min(scratch.length, near.atOnce), count - done);
            long drops = cache.drops();
            MappedFile file = places(near, column, records, done, some, valueBytes, scratch);
            if (file == null) {
                return false;
            }
            copy(file.mapping(), scratch, some, valueBytes, target, targetOffset + done * valueBytes);
            if (cache.drops() == drops) {
                done += some;
                attempts = 0;
                near.atOnce = Math.min(MOST_AT_ONCE, 2 * near.atOnce);
            } else if (++attempts > MOST_ATTEMPTS) {
                return false;
            } else {
                // Their pages may be more than fit in memory.
                near.atOnce = Math.max(1, some / FEWER_AT_ONCE);
            }
        }
        return true;
    }

    /** Finds the places of values; returns the file that has all, or null as {@link #gather} returns false. */
    private @Nullable MappedFile places(Spans near, int column, long[] records, int first, int count,
            long valueBytes, long[] places) {
        long differing = near.places(records, first, count, groups.total(), shift, valueBytes, places);
        if (differing >>> FILE_SHIFT != 0) {
            differing = 0;
            for (int i = 0; i < count; i++) {
                if (places[i] < 0) {
                    places[i] = find(near, column, records[first + i], valueBytes);
                    if (places[i] < 0) {
                        return null;
                    }
                }
                differing |= places[i] ^ places[0];
            }
            if (differing >>> FILE_SHIFT != 0) {
                return null;
            }
        }
        for (int i = (int) records[first] & USES - 1; i < count; i += USES) {
            Piece piece = near.pieces[(int) (records[first + i] >>> shift)];
            if (piece != null) {
                piece.block.countUses(USES);
            }
        }
        // What follows reads what was written before the bases were.
        VarHandle.acquireFence();
        return files[(int) (places[0] >>> FILE_SHIFT)];
    }

    /** Returns where a value is, as {@link Spans#bases} has it, decoding its piece if needed; -1 if it has no place. */
    private long find(Spans near, int column, long record, long valueBytes) {
        if (Long.compareUnsigned(record, groups.total()) >= 0) {
            return -1;
        }
        int span = (int) (record >>> shift);
        Piece known = near.pieces[span];
        Piece piece = known == null ? pieceOf(column, record) : known;
        if (piece == null) {
            return -1;
        }
        int _ = piece.block.use();
        if (known == null && span >= piece.firstSpan() && span < piece.endSpan()) {
            // It was decoded before the column was gathered for the first time.
            piece.block.tell();
        }
        long place = piece.placeOf(record, valueBytes);
        return place < 0 ? -1 : (long) piece.fileNumber << FILE_SHIFT | place;
    }

    /** Returns the piece of a record, by its row group; null if the file has no value of the column. */
    private @Nullable Piece pieceOf(int column, long record) {
        int group = groups.runOf(record);
        int number = group * columns + column;
        Chunk chunk = chunks.getAcquire(number);
        if (chunk == null) {
            if (!sources.has(number)) {
                return null;
            }
            chunk = open(number);
        }
        return chunk.pieces[chunk.pages.pieceOf(record - groups.start(group))];
    }

    private Spans spans(int column) {
        Spans found = spans.getAcquire(column);
        if (found == null) {
            Spans made = new Spans((int) (groups.total() - 1 >>> shift) + 1);
            found = spans.compareAndExchange(column, null, made);
            found = found == null ? made : found;
        }
        return found;
    }

    private static void copy(MemorySegment from, long[] places, int count, long bytes, MemorySegment target, long at) {
        if (bytes == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                target.set(LittleEndian.I64, at + 8L * i, from.get(LittleEndian.I64, places[i] & PLACE));
            }
        } else if (bytes == Integer.BYTES) {
            for (int i = 0; i < count; i++) {
                target.set(LittleEndian.I32, at + 4L * i, from.get(LittleEndian.I32, places[i] & PLACE));
            }
        } else if (bytes == Short.BYTES) {
            for (int i = 0; i < count; i++) {
                target.set(LittleEndian.I16, at + 2L * i, from.get(LittleEndian.I16, places[i] & PLACE));
            }
        } else if (bytes == 1) {
            for (int i = 0; i < count; i++) {
                target.set(ValueLayout.JAVA_BYTE, at + i, from.get(ValueLayout.JAVA_BYTE, places[i] & PLACE));
            }
        } else {
            for (int i = 0; i < count; i++) {
                MemorySegment.copy(from, places[i] & PLACE, target, at + bytes * i, bytes);
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

    private synchronized int fileNumber(MappedFile file) {
        int number = Arrays.asList(files).indexOf(file);
        if (number < 0 && files.length < MOST_FILES) {
            number = files.length;
            MappedFile[] more = Arrays.copyOf(files, number + 1);
            more[number] = file;
            files = more;
        }
        return number;
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
        private final int column;
        private final long firstRecord;
        private final long rows;
        private final DecodedCache.Block block;
        /** Written once, before the block is there. */
        private volatile @Nullable ColumnBlock placed;
        /** Of what was decoded: its file; and if all have values of one size, that, and where record 0 would be. */
        private int fileNumber = -1;
        private long evenBytes = -1;
        private long evenBase;

        Piece(int chunk, Source source, ChunkPages pages, int index) {
            this.chunk = chunk;
            this.source = source;
            this.dictionary = pages.dictionary();
            this.bytes = pages.piece(index);
            this.isWhole = pages.count() == 1;
            this.column = chunk % columns;
            this.rows = pages.rows(index);
            this.firstRecord = groups.start(chunk / columns) + pages.firstRow(index);
            this.block = cache.add(this);
        }

        /** Returns where the value of a record is in the file, if it was decoded; -1 if not of this size. */
        long placeOf(long record, long valueBytes) {
            return Objects.requireNonNull(placed).placeOf(record - firstRecord, valueBytes);
        }

        /** Returns the first span of records that are all in this piece. */
        int firstSpan() {
            return (int) (firstRecord + (1L << shift) - 1 >>> shift);
        }

        /** Returns the span behind the last one. */
        int endSpan() {
            long end = firstRecord + rows;
            return (int) (end == groups.total() ? end + (1L << shift) - 1 >>> shift : end >>> shift);
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
                    fileNumber = fileNumber(decoded.place().file());
                    evenBytes = evenBytes(decoded);
                    evenBase = decoded.valuesAt() - firstRecord * evenBytes;
                    placed = decoded;
                }
            } finally {
                if (buffers.byteSize() > MOST_POOLED_BYTES) {
                    buffers.close();
                } else {
                    pool.add(buffers);
                }
                if (closed) {
                    closePool();
                }
            }
        }

        /** {@inheritDoc} Then each span of records that are all in this piece has it. */
        @Override
        public void placed(boolean isThere) {
            Spans near = spans.getAcquire(column);
            if (near == null) {
                return;
            }
            if (isThere) {
                near.set(firstSpan(), endSpan(), this, fileNumber < 0 || evenBytes <= 0 ? Long.MIN_VALUE
                        : ((long) fileNumber << FILE_SHIFT) + evenBase, evenBytes);
            } else {
                near.forget(firstSpan(), endSpan());
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
        closePool();
    }

    private void closePool() {
        for (DecodeBuffers buffers = pool.poll(); buffers != null; buffers = pool.poll()) {
            buffers.close();
        }
    }
}
