// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.hdf5;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The stored chunks of a dataset, in row-major order. */
final class ChunkIndex {

    private static final int MASK_BYTES = 4;
    private static final long MAX_CHUNKS = 1 << 28;

    private final AddressSpace space;
    private final ChunkGrid grid;
    private final boolean isFiltered;
    private final List<Chunk> chunks = new ArrayList<>();

    private ChunkIndex(AddressSpace space, ChunkGrid grid, boolean isFiltered) {
        this.space = space;
        this.grid = grid;
        this.isFiltered = isFiltered;
    }

    /** Reads an index. Its memory is proportional to the number of stored chunks. */
    static ChunkIndex read(AddressSpace space, Layout.Chunked layout, ChunkGrid grid, boolean isFiltered) {
        ChunkIndex index = new ChunkIndex(space, grid, isFiltered);
        if (layout.address() != AddressSpace.UNDEFINED) {
            switch (layout.index()) {
                case BTREE_1 -> index.readBTree1(layout.address());
                case ONE_CHUNK -> index.add(new long[grid.rank()], layout.address(),
                        isFiltered && layout.oneBytes() > 0 ? layout.oneBytes() : grid.chunkBytes(), layout.oneMask());
                case IMPLICIT -> index.readImplicit(layout.address());
                case FIXED_ARRAY -> FixedArray.walk(space, layout.address(),
                        (number, element) -> index.addElement(index.coordinates(number, 0), element));
                case EXTENSIBLE_ARRAY -> {
                    int growing = index.growingDimension(layout.address());
                    ExtensibleArray.walk(space, layout.address(),
                            (number, element) -> index.addElement(index.coordinates(number, growing), element));
                }
                case BTREE_2 -> BTree2.walk(space, layout.address(),
                        isFiltered ? BTree2.FILTERED_CHUNKS : BTree2.CHUNKS, index::addRecord);
            }
        }
        index.sort();
        return index;
    }

    int count() {
        return chunks.size();
    }

    /** Returns a chunk by its place in the order. */
    Chunk chunk(int place) {
        return chunks.get(place);
    }

    /** Returns the place of the first chunk whose number is not less than a given one. */
    int firstFrom(long number) {
        int low = 0;
        int high = chunks.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (chunks.get(middle).number() < number) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private void readBTree1(long root) {
        int keyBytes = 8 + (grid.rank() + 1) * Long.BYTES;
        BTree1.walk(space, root, BTree1.CHUNKS, keyBytes, (key, child) -> {
            long bytes = key.u32();
            int mask = key.i32();
            long[] coordinates = new long[grid.rank()];
            for (int d = 0; d < coordinates.length; d++) {
                long start = key.notNegative(key.number(Long.BYTES));
                coordinates[d] = start / grid.chunk()[d];
                if (start % grid.chunk()[d] != 0) {
                    throw key.malformed("a chunk that starts at " + start, "a multiple of " + grid.chunk()[d]);
                }
            }
            add(coordinates, child, bytes, mask);
        });
    }

    private void readImplicit(long address) {
        long chunkBytes = grid.chunkBytes();
        long count = 1;
        for (int d = 0; d < grid.rank(); d++) {
            long along = grid.maxChunks(d);
            if (along < 0 || along > 0 && count > MAX_CHUNKS / along) {
                throw space.malformed(space.position(address, 0, "chunks"), "chunks without an index, "
                        + count + " times " + along + " of them", "at most " + MAX_CHUNKS);
            }
            count *= along;
        }
        space.position(address, Math.multiplyHigh(count, chunkBytes) == 0 ? count * chunkBytes : -1, "chunks");
        for (long i = 0; i < count; i++) {
            add(coordinates(i, 0), address + i * chunkBytes, chunkBytes, 0);
        }
    }

    private void addRecord(Cursor record) {
        long address = record.address();
        long coordinatesBytes = (long) grid.rank() * Long.BYTES;
        long bytes = isFiltered ? size(record, record.remaining() - coordinatesBytes - MASK_BYTES) : grid.chunkBytes();
        int mask = isFiltered ? record.i32() : 0;
        long[] coordinates = new long[grid.rank()];
        for (int d = 0; d < coordinates.length; d++) {
            coordinates[d] = record.notNegative(record.number(Long.BYTES));
        }
        add(coordinates, address, bytes, mask);
    }

    private void addElement(long @Nullable [] coordinates, Cursor element) {
        long address = element.address();
        if (coordinates != null && address != AddressSpace.UNDEFINED) {
            long bytes = isFiltered ? size(element, element.remaining() - MASK_BYTES) : grid.chunkBytes();
            add(coordinates, address, bytes, isFiltered ? element.i32() : 0);
        }
    }

    /** Reads a chunk's size, a number of as many bytes as the record has for it. */
    private static long size(Cursor record, long bytes) {
        if (bytes < 1 || bytes > Long.BYTES) {
            throw record.malformed("a chunk's size of " + bytes + " bytes", "1 to 8");
        }
        return record.notNegative(record.number((int) bytes));
    }

    /** Returns the dimension that grows; an extensible array has exactly one. */
    private int growingDimension(long address) {
        int[] growing = IntStream.range(0, grid.rank()).filter(d -> grid.maxShape()[d] < 0).toArray();
        if (growing.length != 1) {
            throw space.malformed(space.position(address, 0, "chunks"), "an extensible array for " + growing.length
                    + " dimensions that grow", "one");
        }
        return growing[0];
    }

    /**
     * Returns the coordinates of a chunk whose number counts row-major through the maximum shape, with one dimension as
     * the outermost; null if there is no such chunk.
     */
    private long @Nullable [] coordinates(long number, int outermost) {
        long[] coordinates = new long[grid.rank()];
        long rest = number;
        for (int d = grid.rank() - 1; d >= 0; d--) {
            if (d != outermost) {
                long along = grid.maxChunks(d);
                if (along <= 0) {
                    return null;
                }
                coordinates[d] = rest % along;
                rest /= along;
            }
        }
        coordinates[outermost] = rest;
        return coordinates;
    }

    private void add(long @Nullable [] coordinates, long address, long bytes, int mask) {
        long number = coordinates == null ? -1 : grid.number(coordinates);
        if (number >= 0) {
            chunks.add(new Chunk(number, space.position(address, bytes, "chunk " + number), bytes, mask));
        }
    }

    private void sort() {
        chunks.sort(Comparator.comparingLong(Chunk::number));
        for (int i = 1; i < chunks.size(); i++) {
            if (chunks.get(i).number() == chunks.get(i - 1).number()) {
                throw space.malformed(chunks.get(i).position(), "chunk " + chunks.get(i).number() + " is listed twice",
                        "each chunk once");
            }
        }
    }
}
