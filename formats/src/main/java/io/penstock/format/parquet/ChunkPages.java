// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.internal.PrefixSums;
import io.penstock.io.MappedFile;
import java.util.Arrays;

/**
 * The pages of a column chunk in pieces that are decoded alone: by the offset index that the file has, or else by the
 * headers of the pages. Small pages are joined.
 *
 * <p>Source: {@code PageIndex.md} of apache/parquet-format.
 *
 * @param dictionary the page before the data pages, which may be a dictionary; empty if there is none, or the only
 *     piece has it
 * @param starts for each piece, its first byte, and the end of the last one
 * @param firstRows the rows of each piece
 */
record ChunkPages(ColumnChunk.Range dictionary, long[] starts, PrefixSums firstRows) {

    /** Pages with fewer bytes are joined: what each costs would be more than what it saves. */
    static final long LEAST_PIECE_BYTES = 4 << 10;

    private static final int FIRST_PAGES = 64;

    int count() {
        return starts.length - 1;
    }

    ColumnChunk.Range piece(int index) {
        return new ColumnChunk.Range(starts[index], starts[index + 1] - starts[index]);
    }

    long rows(int index) {
        return firstRows.length(index);
    }

    long firstRow(int index) {
        return firstRows.start(index);
    }

    /** Returns the piece with a row. */
    int pieceOf(long row) {
        return firstRows.runOf(row);
    }

    /** Returns a chunk as one piece. */
    static ChunkPages whole(ColumnChunk chunk, long rows) {
        return new ChunkPages(ColumnChunk.Range.EMPTY, new long[] {chunk.start(), chunk.end()},
                PrefixSums.of(new long[] {0, rows}));
    }

    /** Finds the pieces of a chunk. Reads no values. */
    static ChunkPages of(MappedFile file, ColumnChunk chunk, Leaf leaf, long rows) {
        if (chunk.byteSize() < 2 * LEAST_PIECE_BYTES || rows < 2) {
            return whole(chunk, rows);
        }
        if (!chunk.offsetIndex().isEmpty()) {
            return indexed(file, chunk, rows);
        }
        // The rows of a page of lists are in its levels, and the headers of a remote file are all over the chunk.
        return leaf.maxRepetition() > 0 || file.isRemote() ? whole(chunk, rows) : scanned(file, chunk, rows);
    }

    /** Is told of each page of an index of offsets; -1 is what the index does not say. */
    @FunctionalInterface
    interface Visitor {

        void page(ThriftReader in, long offset, long bytes, long firstRow);
    }

    /** Reads an index of offsets ({@code OffsetIndex} of {@code parquet.thrift}). */
    static void readIndex(MappedFile file, ColumnChunk.Range index, Visitor visitor) {
        file.require(index.start(), index.byteSize());
        var in = new ThriftReader(file.location(), file.mapping(), index.start(), index.end());
        in.beginStruct();
        while (in.nextField()) {
            if (in.fieldId() != 1) {
                in.skip();
                continue;
            }
            for (int i = in.list(ThriftReader.STRUCT); i > 0; i--) {
                long offset = -1;
                long bytes = -1;
                long row = -1;
                in.beginStruct();
                while (in.nextField()) {
                    switch (in.fieldId()) {
                        case 1 -> offset = in.i64();
                        case 2 -> bytes = in.i32();
                        case 3 -> row = in.i64();
                        default -> in.skip();
                    }
                }
                visitor.page(in, offset, bytes, row);
            }
        }
    }

    private static ChunkPages indexed(MappedFile file, ColumnChunk chunk, long rows) {
        var pieces = new Pieces();
        readIndex(file, chunk.offsetIndex(), (in, offset, bytes, row) -> {
            boolean isNext = pieces.count == 0 ? row == 0 && offset >= chunk.start()
                    : row >= pieces.lastRow && offset >= pieces.end;
            if (!isNext || bytes <= 0 || offset > chunk.end() || bytes > chunk.end() - offset || row > rows) {
                throw in.malformed(chunk.name() + ": a page of " + bytes + " bytes from byte " + offset
                        + " with row " + row + " first", "pages of " + rows + " rows in order, between bytes "
                        + chunk.start() + " and " + chunk.end());
            }
            pieces.add(offset, offset + bytes, row);
        });
        if (pieces.count == 0) {
            throw new MalformedStoreException(file.location(), chunk.offsetIndex().start(), chunk.name()
                    + ": an index of no pages", "pages of " + rows + " rows");
        }
        return pieces.of(chunk, rows);
    }

    /** Finds the pages by their headers; what is odd about them is left to those who decode the chunk as a whole. */
    private static ChunkPages scanned(MappedFile file, ColumnChunk chunk, long rows) {
        var pieces = new Pieces();
        long row = 0;
        try {
            for (long at = chunk.start(); at < chunk.end() && row < rows;) {
                var in = new ThriftReader(file.location(), file.mapping(), at, chunk.end());
                PageHeader header = PageHeader.read(in);
                long end = in.position() + header.compressedBytes();
                if (end > chunk.end() || header.kind() == PageHeader.Kind.DICTIONARY && pieces.count > 0) {
                    return whole(chunk, rows);
                }
                if (header.kind() == PageHeader.Kind.DATA || header.kind() == PageHeader.Kind.DATA_V2) {
                    pieces.add(at, end, row);
                    row += header.values();
                }
                at = end;
            }
        } catch (PenstockException | IndexOutOfBoundsException _) {
            return whole(chunk, rows);
        }
        return row != rows || pieces.count == 0 ? whole(chunk, rows) : pieces.of(chunk, rows);
    }

    /** Pages that are joined to pieces. */
    private static final class Pieces {

        private long[] starts = new long[FIRST_PAGES];
        private long[] firstRows = new long[FIRST_PAGES];
        private int count;
        private long end;
        private long lastRow;

        /** Adds a page; it joins the piece before if one of the two is small, or the piece has no rows. */
        void add(long start, long pageEnd, long firstRow) {
            boolean isJoined = count > 0 && (end - starts[count - 1] < LEAST_PIECE_BYTES
                    || firstRow == firstRows[count - 1]);
            if (!isJoined) {
                if (count + 1 == starts.length) {
                    starts = Arrays.copyOf(starts, 2 * count);
                    firstRows = Arrays.copyOf(firstRows, 2 * count);
                }
                starts[count] = start;
                firstRows[count++] = firstRow;
            }
            end = pageEnd;
            lastRow = firstRow;
        }

        ChunkPages of(ColumnChunk chunk, long rows) {
            if (count == 1) {
                return whole(chunk, rows);
            }
            // A last page without rows would be a piece without any.
            if (firstRows[count - 1] == rows) {
                count--;
            }
            ColumnChunk.Range before = new ColumnChunk.Range(chunk.start(), starts[0] - chunk.start());
            long[] ends = Arrays.copyOf(starts, count + 1);
            long[] rowEnds = Arrays.copyOf(firstRows, count + 1);
            ends[count] = end;
            rowEnds[count] = rows;
            return new ChunkPages(before, ends, PrefixSums.of(rowEnds).indexed());
        }
    }
}
