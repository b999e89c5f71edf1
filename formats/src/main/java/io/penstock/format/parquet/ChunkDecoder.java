// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.error.CodecException;
import io.penstock.format.table.ColumnBlock;
import io.penstock.format.table.UnitedColumns;
import io.penstock.io.DecodeLimit;
import io.penstock.io.MappedFile;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Decodes a column chunk: concatenates the values of its pages, and derives from the levels which row has which. For
 * one thread and one chunk.
 */
final class ChunkDecoder implements AutoCloseable {

    private static final long FIRST_BYTES = 1 << 20;
    private static final int USUAL_EXPANSION = 8;

    private final Flat flat;
    private final Leaf leaf;
    private final boolean isWidened;
    private final long expectedBytes;
    private final long rows;
    private final DecodeLimit.Budget budget;
    private final LeafTiles tiles;
    private final int[] definitions;
    private final int[] repetitions;
    private final NativeBuffer values;
    private final NativeBuffer offsets;
    private final NativeBuffer states;
    private final NativeBuffer scratch;
    private final long[] ends;
    private long rowsDone;
    private long elementsDone;
    private long absent;
    /** The bytes taken from the budget. */
    private long taken;
    private boolean inList;

    /** Opens a decoder of a whole chunk, which has {@code rows} rows. */
    ChunkDecoder(MappedFile file, Flat flat, ColumnChunk chunk, long rows, DecodeBuffers buffers,
            DecodeLimit.Budget budget) {
        this(flat, chunk.values(), chunk.byteSize(), rows,
                new LeafTiles(file, flat.leaf(), chunk, buffers, budget), buffers, budget);
    }

    /** Opens a decoder of the values of tiles, which it closes. */
    ChunkDecoder(Flat flat, long mostValues, long storedBytes, long rows, LeafTiles tiles, DecodeBuffers buffers,
            DecodeLimit.Budget budget) {
        this.flat = flat;
        this.leaf = flat.leaf();
        this.isWidened = flat.isWidened();
        this.expectedBytes = Math.min(mostValues * flat.byteSize(),
                Math.max(FIRST_BYTES, storedBytes * USUAL_EXPANSION));
        this.rows = rows;
        this.budget = budget;
        this.tiles = tiles;
        this.definitions = tiles.definitions();
        this.repetitions = tiles.repetitions();
        buffers.empty();
        this.ends = buffers.ends;
        this.values = buffers.values;
        this.offsets = buffers.offsets;
        this.states = buffers.states;
        this.scratch = buffers.scratch;
    }

    ColumnBlock decode(ColumnBlock.Copy copy) throws IOException {
        boolean done = false;
        try {
            decodeTiles();
            ColumnBlock block = finish(copy);
            done = true;
            return block;
        } catch (CodecException e) {
            throw tiles.malformed(String.valueOf(e.getMessage()), "what its encoding says");
        } finally {
            if (!done) {
                budget.giveBack(taken);
            }
        }
    }

    private void decodeTiles() throws IOException {
        values.reserve(expectedBytes);
        if (leaf.isBinary()) {
            appendOffset(0);
        }
        for (int count = tiles.next(); count > 0; count = tiles.next()) {
            int present = flat.isList() ? readLists(count) : readRows(count);
            if (leaf.isBinary()) {
                appendBinaries(count, present);
            } else {
                appendNumbers(flat.isList() ? present : count, present);
            }
            budget.take(values.used() - taken);
            taken = values.used();
        }
        if (rowsDone != rows) {
            throw tiles.malformed("pages of " + rowsDone + " rows", rows + ", as the row group has");
        }
    }

    /** Reads the definition levels of rows of one value each; returns the number of values. */
    private int readRows(int count) {
        checkRows(count);
        int max = leaf.maxDefinition();
        if (max == 0) {
            return count;
        }
        long at = states.reserve(count);
        MemorySegment flags = states.segment();
        if (tiles.isFull()) {
            flags.asSlice(at, count).fill(ColumnBlock.PRESENT);
            states.advance(count);
            return count;
        }
        int present = 0;
        for (int i = 0; i < count; i++) {
            int level = definitions[i];
            if (level > max) {
                throw new CodecException("the definition level " + level + " of at most " + max);
            }
            int there = level == max ? 1 : 0;
            flags.set(JAVA_BYTE, at + i, (byte) there);
            present += there;
        }
        states.advance(count);
        absent += count - present;
        return present;
    }

    /** Reads the levels of lists; returns the number of elements. */
    private int readLists(int count) {
        int element = flat.listDefinition();
        int max = leaf.maxDefinition();
        long offsetAt = offsets.reserve((long) count * Integer.BYTES);
        long stateAt = states.reserve(count);
        MemorySegment starts = offsets.segment();
        MemorySegment flags = states.segment();
        int started = 0;
        int elements = 0;
        for (int i = 0; i < count; i++) {
            int level = definitions[i];
            if (repetitions[i] == 0) {
                byte there = level >= element - 1 ? ColumnBlock.PRESENT : ColumnBlock.NULL;
                starts.set(LittleEndian.I32, offsetAt + (long) started * Integer.BYTES,
                        (int) (elementsDone + elements));
                flags.set(JAVA_BYTE, stateAt + started, there);
                absent += there == ColumnBlock.PRESENT ? 0 : 1;
                started++;
                inList = level >= element;
            } else if (!inList || level < element) {
                throw new CodecException("levels that continue a list that has no elements");
            }
            if (level > max) {
                throw new CodecException("the definition level " + level + " of at most " + max);
            } else if (level == max) {
                elements++;
            } else if (level >= element) {
                // The row may have begun in the tile before.
                flags.set(JAVA_BYTE, stateAt + started - 1, ColumnBlock.BAD);
                absent++;
            }
        }
        checkRows(started);
        offsets.advance((long) started * Integer.BYTES);
        states.advance(started);
        elementsDone += elements;
        return elements;
    }

    private void checkRows(int more) {
        rowsDone += more;
        if (rowsDone > rows) {
            throw new CodecException("more than the " + rows + " rows that the row group has");
        }
    }

    private void appendBinaries(int count, int present) throws IOException {
        long end = values.used();
        if (present > 0) {
            tiles.read(values, ends, present);
        }
        long at = offsets.reserve((long) count * Integer.BYTES);
        MemorySegment target = offsets.segment();
        int max = leaf.maxDefinition();
        int value = 0;
        for (int i = 0; i < count; i++) {
            if (max == 0 || definitions[i] == max) {
                end = ends[value++];
            }
            target.set(LittleEndian.I32, at + (long) i * Integer.BYTES, (int) end);
        }
        offsets.advance((long) count * Integer.BYTES);
    }

    /** Appends the values of rows or elements, of which {@code present} are not null. */
    private void appendNumbers(int count, int present) throws IOException {
        int stored = leaf.storedBytes();
        int width = flat.byteSize();
        long at = values.reserve((long) count * width);
        if (present == count && stored == width && !isWidened) {
            if (count > 0) {
                tiles.read(values.segment(), at, count);
            }
        } else {
            long room = scratch.reserve((long) present * (stored + width));
            MemorySegment packed = scratch.segment().asSlice(room);
            if (present > 0) {
                tiles.read(packed, 0, present);
                packed = converted(packed, present, stored, width);
            }
            if (present == count) {
                MemorySegment.copy(packed, 0, values.segment(), at, (long) count * width);
            } else {
                scatter(packed, count, width, at);
            }
        }
        values.advance((long) count * width);
    }

    /** Returns values as the column has them; {@code packed} has room for them behind the stored ones. */
    private MemorySegment converted(MemorySegment packed, int count, int stored, int width) {
        DType own = leaf.type().dtype();
        if (own == null || !isWidened) {
            narrow(packed, count, stored, width);
            return packed;
        }
        MemorySegment wider = packed.asSlice((long) count * stored);
        UnitedColumns.widen(packed, own, stored, wider, flat.column().spec().dtype(), count);
        return wider;
    }

    /** Narrows integers that are stored as 32 bits, in place. */
    private static void narrow(MemorySegment packed, int count, int stored, int width) {
        if (stored == width) {
            return;
        }
        if (width == Short.BYTES) {
            for (int i = 0; i < count; i++) {
                packed.set(LittleEndian.I16, 2L * i, (short) packed.get(LittleEndian.I32, 4L * i));
            }
        } else {
            for (int i = 0; i < count; i++) {
                packed.set(JAVA_BYTE, i, (byte) packed.get(LittleEndian.I32, 4L * i));
            }
        }
    }

    /** Moves values to their rows, with zeros where a value is missing. */
    private void scatter(MemorySegment packed, int count, int width, long at) {
        MemorySegment target = values.segment();
        int max = leaf.maxDefinition();
        long from = 0;
        for (int i = 0; i < count; i++) {
            long to = at + (long) i * width;
            if (definitions[i] == max) {
                switch (width) {
                    case Integer.BYTES -> target.set(LittleEndian.I32, to, packed.get(LittleEndian.I32, from));
                    case Long.BYTES -> target.set(LittleEndian.I64, to, packed.get(LittleEndian.I64, from));
                    default -> MemorySegment.copy(packed, from, target, to, width);
                }
                from += width;
            } else {
                target.asSlice(to, width).fill((byte) 0);
            }
        }
    }

    private ColumnBlock finish(ColumnBlock.Copy copy) throws IOException {
        boolean varies = leaf.isBinary() || flat.isList();
        if (flat.isList()) {
            appendOffset(elementsDone);
            checkLengths();
        }
        return ColumnBlock.append(copy, values.written(), flat.byteSize(), varies ? offsets.written() : null,
                absent > 0 ? states.written() : null);
    }

    private void appendOffset(long value) {
        long at = offsets.reserve(Integer.BYTES);
        offsets.segment().set(LittleEndian.I32, at, (int) value);
        offsets.advance(Integer.BYTES);
    }

    /** Checks that lists of a fixed size have it. */
    private void checkLengths() throws IOException {
        long expected = flat.listLength();
        MemorySegment starts = offsets.segment();
        for (long row = 0; expected >= 0 && row < rows; row++) {
            long length = starts.get(LittleEndian.I32, 4 * row + 4) - starts.get(LittleEndian.I32, 4 * row);
            if (length != expected && states.segment().get(JAVA_BYTE, row) == ColumnBlock.PRESENT) {
                throw tiles.malformed("a list of " + length + " elements in row " + row + " of its row group",
                        expected + ", as the schema says");
            }
        }
    }

    @Override
    public void close() {
        tiles.close();
    }
}
