// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.memory.TensorSpec;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A tensor that must be decoded: it is in chunks, big-endian, of 24-bit integers, or was never written. It is decoded
 * in bands, the rows of one or several rows of chunks.
 */
final class DecodedTensor {

    /** The least size of a band if there are several: each has a cost. */
    private static final long LEAST_BAND_BYTES = 16 << 10;
    private static final long MOST_BAND_BYTES = 1 << 30;
    private static final long MOST_BANDS = 1 << 20;

    private final AddressSpace space;
    private final StoredDataset dataset;
    private final long rows;
    private final long rowBytes;
    private final long storedRowBytes;
    private final long bandRows;
    private @Nullable ChunkIndex chunks;

    DecodedTensor(AddressSpace space, StoredDataset dataset) {
        this.space = space;
        this.dataset = dataset;
        TensorSpec spec = dataset.spec();
        this.rows = spec.rank() == 0 ? 1 : spec.dim(0);
        this.rowBytes = spec.rowBytes();
        this.storedRowBytes = dataset.type().storedBytes(rowBytes);
        this.bandRows = bandRows();
    }

    /** Returns whole rows of chunks, unless they are too large to decode at once. */
    private long bandRows() {
        long unit = dataset.layout() instanceof Layout.Chunked chunked ? Math.min(rows, chunked.chunk()[0]) : 1;
        long most = Math.max(1, MOST_BAND_BYTES / rowBytes);
        if (unit >= most) {
            return most;
        }
        long least = Math.max(Math.ceilDiv(LEAST_BAND_BYTES, rowBytes), Math.ceilDiv(rows, MOST_BANDS));
        return Math.min(rows, Math.min(Math.ceilDiv(least, unit), Math.max(1, most / unit)) * unit);
    }

    long bands() {
        return Math.ceilDiv(rows, bandRows);
    }

    long bandOf(long row) {
        return row / bandRows;
    }

    long firstRow(long band) {
        return band * bandRows;
    }

    long bandBytes(long band) {
        return Math.min(bandRows, rows - firstRow(band)) * rowBytes;
    }

    long rowBytes() {
        return rowBytes;
    }

    /** Decodes a band into zeroed memory of its size; an error names file, dataset and chunk. */
    void decode(long band, MemorySegment target) throws IOException {
        if (!dataset.type().isWidened()) {
            read(band, target);
            dataset.type().toLittleEndian(target);
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stored = arena.allocate(dataset.type().storedBytes(target.byteSize()));
            read(band, stored);
            dataset.type().widen(stored, target);
        }
    }

    private void read(long band, MemorySegment target) throws IOException {
        space.file().reading(() -> {
            long before = firstRow(band) * storedRowBytes;
            if (dataset.layout() instanceof Layout.Contiguous piece && piece.address() != AddressSpace.UNDEFINED) {
                long position = space.position(piece.address(), dataset.storedBytes(), dataset.name());
                copy(position + before, target);
            } else if (dataset.layout() instanceof Layout.Compact compact) {
                copy(compact.position() + before, target);
            } else {
                fill(target);
                if (dataset.layout() instanceof Layout.Chunked chunked) {
                    decodeChunks(chunked, firstRow(band), target);
                }
            }
            space.file().checkUnchanged();
            return target;
        });
    }

    private void copy(long position, MemorySegment target) {
        target.copyFrom(space.file().range(position, target.byteSize()));
    }

    private void fill(MemorySegment target) {
        byte[] value = dataset.fill();
        if (value == null || target.byteSize() == 0) {
            return;
        }
        MemorySegment.copy(value, 0, target, JAVA_BYTE, 0, value.length);
        for (long done = value.length; done < target.byteSize(); done *= 2) {
            MemorySegment.copy(target, 0, target, done, Math.min(done, target.byteSize() - done));
        }
    }

    private void decodeChunks(Layout.Chunked layout, long firstRow, MemorySegment target) throws IOException {
        ChunkGrid grid = dataset.grid();
        ChunkIndex index = index(layout, grid);
        long bandRowCount = target.byteSize() / storedRowBytes;
        long firstChunkRow = firstRow / grid.chunk()[0];
        long endChunkRow = (firstRow + bandRowCount - 1) / grid.chunk()[0] + 1;
        long end = endChunkRow * grid.chunksAcross();
        ChunkBox box = new ChunkBox(grid, firstRow, bandRowCount);
        for (int i = index.firstFrom(firstChunkRow * grid.chunksAcross()); i < index.count()
                && index.chunk(i).number() < end; i++) {
            Chunk chunk = index.chunk(i);
            long[] coordinates = grid.coordinates(chunk.number());
            box.copy(decode(layout, grid, chunk, coordinates), coordinates, target);
        }
    }

    private synchronized ChunkIndex index(Layout.Chunked layout, ChunkGrid grid) {
        ChunkIndex read = chunks;
        if (read == null) {
            if (grid.chunkBytes() > Integer.MAX_VALUE - 64) {
                throw new MalformedStoreException(space.file().location(), dataset.name() + " with chunks of "
                        + grid.chunkBytes() + " bytes", "less than 2 GiB");
            }
            read = ChunkIndex.read(space, layout, grid, !dataset.filters().isEmpty());
            chunks = read;
        }
        return read;
    }

    private byte[] decode(Layout.Chunked layout, ChunkGrid grid, Chunk chunk, long[] coordinates) throws IOException {
        boolean isWhole = layout.wholeEdges() && grid.isCut(coordinates);
        FilterPipeline pipeline = new FilterPipeline(dataset.filters(), (int) grid.chunkBytes());
        try {
            if (chunk.byteSize() > Integer.MAX_VALUE - 64) {
                throw new CodecException(chunk.byteSize() + " bytes in the file, expected less than 2 GiB");
            }
            byte[] stored = space.file().range(chunk.position(), chunk.byteSize()).toArray(JAVA_BYTE);
            return pipeline.decode(stored, isWhole ? -1 : chunk.skippedFilters());
        } catch (CodecException e) {
            throw new MalformedStoreException(space.file().location(), chunk.position(), "chunk " + chunk.number()
                    + " of " + dataset.name() + ": " + e.getMessage(),
                    "one of " + grid.chunkBytes() + " bytes after undoing "
                            + dataset.filters().stream().map(Filter::name).toList());
        }
    }
}
