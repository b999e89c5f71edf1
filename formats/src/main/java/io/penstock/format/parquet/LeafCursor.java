// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.table.JsonText;
import io.penstock.io.DecodeLimit;
import io.penstock.io.MappedFile;
import java.io.IOException;

/** Iterates over the entries of one leaf's chunk: two levels each, and a value if it is present. For one thread. */
final class LeafCursor implements AutoCloseable {

    private final Leaf leaf;
    private final LeafTiles tiles;
    private final DecodeBuffers pages = new DecodeBuffers();
    private final NativeBuffer values = new NativeBuffer();
    private final long[] ends = new long[Numbers.TILE];
    private int count;
    private int at;
    /** The values of the tile that were passed. */
    private int valuesDone;
    private long entriesDone;
    private long rowStart;

    LeafCursor(MappedFile file, Leaf leaf, ColumnChunk chunk, DecodeLimit.Budget budget) {
        this.leaf = leaf;
        this.tiles = new LeafTiles(file, leaf, chunk, pages, budget);
    }

    boolean isAtEnd() throws IOException {
        if (at < count) {
            return false;
        }
        try {
            fill();
        } catch (CodecException e) {
            throw malformed(String.valueOf(e.getMessage()), "what its encoding says");
        }
        return count == 0;
    }

    private void fill() throws IOException {
        count = tiles.next();
        at = 0;
        valuesDone = 0;
        int present = 0;
        int max = leaf.maxDefinition();
        for (int i = 0; i < count; i++) {
            int level = tiles.definitions()[i];
            if (level > max || tiles.repetitions()[i] > leaf.maxRepetition()) {
                throw new CodecException("the levels " + level + " and " + tiles.repetitions()[i] + " of at most " + max
                        + " and " + leaf.maxRepetition());
            }
            present += level == max ? 1 : 0;
        }
        values.truncate(0);
        if (present > 0 && leaf.isBinary()) {
            tiles.read(values, ends, present);
        } else if (present > 0) {
            values.reserve((long) present * leaf.storedBytes());
            tiles.read(values.segment(), 0, present);
        }
    }

    int definition() throws IOException {
        require();
        return tiles.definitions()[at];
    }

    int repetition() throws IOException {
        require();
        return tiles.repetitions()[at];
    }

    /** Tells whether there is another entry, with this repetition level. */
    boolean begins(int repetition) throws IOException {
        return !isAtEnd() && tiles.repetitions()[at] == repetition;
    }

    private void require() throws IOException {
        if (isAtEnd()) {
            throw malformed("the end of the levels within a row", "more");
        }
    }

    void advance() throws IOException {
        valuesDone += definition() == leaf.maxDefinition() ? 1 : 0;
        at++;
        entriesDone++;
    }

    /** Writes the value of the current entry, and goes to the next one. */
    void append(JsonText out) throws IOException {
        int value = valuesDone;
        advance();
        long width = leaf.storedBytes();
        long start = !leaf.isBinary() ? value * width : value == 0 ? 0 : ends[value - 1];
        leaf.write(values.segment(), start, leaf.isBinary() ? ends[value] - start : width, out);
    }

    void beginRow() {
        rowStart = entriesDone;
    }

    /** Goes to the start of the next row. */
    void endRow() throws IOException {
        while (!isAtEnd() && (entriesDone == rowStart || repetition() != 0)) {
            advance();
        }
    }

    MalformedStoreException malformed(String found, String expected) {
        return tiles.malformed(found, expected);
    }

    @Override
    public void close() {
        tiles.close();
        pages.close();
        values.close();
    }
}
