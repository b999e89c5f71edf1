// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import io.penstock.error.CodecException;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.arrow.ArrowType;
import io.penstock.io.DecodeLimit;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Iterates over the pages of a column chunk by tiles of a few thousand levels, so that memory does not depend on what a
 * page claims. For one thread.
 */
final class LeafTiles implements AutoCloseable {

    /** The largest value of fixed length. */
    static final int MAX_VALUE_BYTES = 1 << 20;

    private static final int TILE = Numbers.TILE;

    private final Leaf leaf;
    private final ColumnChunk chunk;
    /** Of the dictionary, if it is among the pages. */
    private final Arena arena = Arena.ofConfined();
    private final Pages pages;
    private final boolean endsWithPages;
    private final int tile;
    private final int[] definitions;
    private final int[] repetitions;
    private final int[] indices;
    private @Nullable Dictionary dictionary;
    private long valuesLeft;
    /** The current data page, and its values after the levels. */
    private @Nullable PageHeader header;
    private @Nullable PageBytes values;
    private @Nullable Levels repetition;
    private @Nullable Levels definition;
    private int pageDone;
    private boolean isFull;
    private @Nullable Numbers numbers;
    private @Nullable Binaries binaries;

    /** Opens the tiles of a whole chunk. */
    LeafTiles(MappedFile file, Leaf leaf, ColumnChunk chunk, DecodeBuffers buffers, DecodeLimit.Budget budget) {
        this(file, leaf, chunk, new ColumnChunk.Range(chunk.start(), chunk.byteSize()), chunk.values(), null, buffers,
                budget);
    }

    /**
     * Opens the tiles of data pages.
     *
     * @param values how many they have; -1 if only their end tells
     * @param dictionary the chunk's, which the caller keeps open; null if it has none, or it is the first page
     */
    LeafTiles(MappedFile file, Leaf leaf, ColumnChunk chunk, ColumnChunk.Range range, long values,
            @Nullable Dictionary dictionary, DecodeBuffers buffers, DecodeLimit.Budget budget) {
        this.leaf = leaf;
        this.chunk = chunk;
        this.pages = new Pages(file, chunk, range, buffers, arena, budget);
        this.tile = leaf.isBinary() ? TILE : Math.clamp(MAX_VALUE_BYTES / leaf.storedBytes(), 1, TILE);
        this.definitions = buffers.definitions;
        this.repetitions = buffers.repetitions;
        this.indices = buffers.indices;
        // Levels that are not stored are zeros.
        if (leaf.maxDefinition() == 0) {
            Arrays.fill(definitions, 0);
        }
        if (leaf.maxRepetition() == 0) {
            Arrays.fill(repetitions, 0);
        }
        this.dictionary = dictionary;
        this.valuesLeft = values >= 0 ? values : Long.MAX_VALUE;
        this.endsWithPages = values < 0;
    }

    /** Reads the dictionary that is a page alone; null if the page is none. */
    static @Nullable Dictionary dictionary(MappedFile file, Leaf leaf, ColumnChunk chunk, ColumnChunk.Range page,
            DecodeBuffers buffers, SegmentAllocator memory, DecodeLimit.Budget budget) throws IOException {
        Pages pages = new Pages(file, chunk, page, buffers, memory, budget);
        PageHeader header = pages.next();
        return header.kind() == PageHeader.Kind.DICTIONARY ? dictionary(pages, header, leaf) : null;
    }

    /** Returns the definition levels of the tile; zeros if there are none. */
    int[] definitions() {
        return definitions;
    }

    /** Tells whether it is known that no value of the tile is missing. */
    boolean isFull() {
        return isFull;
    }

    /** Returns the repetition levels of the tile; zeros if there are none. */
    int[] repetitions() {
        return repetitions;
    }

    MalformedStoreException malformed(String found, String expected) {
        return pages.malformed(found, expected);
    }

    /** Goes to the next tile; returns its number of levels, 0 after the last one. All values before it must be read. */
    int next() throws IOException {
        PageHeader page = header;
        while (page == null || pageDone == page.values()) {
            closeValues();
            header = null;
            if (valuesLeft == 0 || endsWithPages && pages.isAtEnd()) {
                return 0;
            }
            page = nextPage();
        }
        int count = Math.min(tile, page.values() - pageDone);
        pageDone += count;
        isFull = leaf.maxDefinition() == 0;
        if (definition != null) {
            isFull = definition.areAll(leaf.maxDefinition(), count);
            definition.read(definitions, count);
        }
        if (repetition != null) {
            repetition.read(repetitions, count);
        }
        return count;
    }

    /** Goes to the next data page, past a dictionary and empty pages. */
    private PageHeader nextPage() throws IOException {
        while (true) {
            PageHeader found = pages.next();
            switch (found.kind()) {
                case DICTIONARY -> readDictionary(found);
                case DATA, DATA_V2 -> {
                    valuesLeft -= found.values();
                    if (valuesLeft < 0) {
                        throw pages.malformed("pages of " + (chunk.values() - valuesLeft) + " values", chunk.values()
                                + ", as the column chunk has");
                    }
                    openPage(found);
                    header = found;
                    pageDone = 0;
                    return found;
                }
                case INDEX -> { }
            }
        }
    }

    private void readDictionary(PageHeader header) throws IOException {
        if (dictionary != null) {
            throw pages.malformed("a second dictionary", "one a column chunk");
        }
        dictionary = dictionary(pages, header, leaf);
    }

    private static Dictionary dictionary(Pages pages, PageHeader header, Leaf leaf) throws IOException {
        boolean isPlain = switch (header.encoding()) {
            // Older versions of the format, and writers that mix the versions, name the encoding of the indices.
            case PLAIN, PLAIN_DICTIONARY, RLE_DICTIONARY -> true;
            default -> false;
        };
        if (!isPlain || leaf.physical() == Physical.BOOLEAN) {
            throw pages.malformed("a dictionary of " + leaf.physical() + " in the encoding " + header.encoding(),
                    "PLAIN");
        }
        PageBytes in = pages.dictionaryBytes();
        return leaf.isBinary() ? Dictionary.ofBinaries(in, header.values(), pages.dictionaryMemory())
                : Dictionary.ofNumbers(in, header.values(), leaf.storedBytes());
    }

    private void openPage(PageHeader header) throws IOException {
        PageBytes in = pages.bytes();
        values = in;
        if (header.kind() == PageHeader.Kind.DATA) {
            repetition = levels(in, header.repetitionEncoding(), leaf.maxRepetition(), header.values());
            definition = levels(in, header.definitionEncoding(), leaf.maxDefinition(), header.values());
        } else {
            repetition = levels(in.part(header.repetitionBytes(), "levels"), leaf.maxRepetition());
            definition = levels(in.part(header.definitionBytes(), "levels"), leaf.maxDefinition());
        }
    }

    /** Returns the levels of a page of version 2; null if all are 0. */
    private static @Nullable Levels levels(PageBytes in, int max) {
        return max == 0 ? null : new RunLengths(in, bits(max), "levels");
    }

    /** Returns the levels of a page of version 1; null if all are 0, which are not stored. */
    private static @Nullable Levels levels(PageBytes in, Encoding encoding, int max, int count) {
        if (max == 0) {
            return null;
        }
        if (encoding == Encoding.BIT_PACKED) {
            return Levels.bitPacked(in.part(((long) count * bits(max) + 7) / 8, "levels"), bits(max));
        }
        if (encoding != Encoding.RLE) {
            throw new CodecException("levels in the encoding " + encoding);
        }
        return levels(in.part(in.i32("levels"), "levels"), max);
    }

    private static int bits(int maxLevel) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(maxLevel);
    }

    void read(MemorySegment into, long at, int count) throws IOException {
        if (numbers == null) {
            numbers = open(numbers(Objects.requireNonNull(header), Objects.requireNonNull(values)));
        }
        numbers.read(into, at, count);
    }

    void read(NativeBuffer into, long[] ends, int count) throws IOException {
        if (binaries == null) {
            binaries = open(binaries(Objects.requireNonNull(header), Objects.requireNonNull(values)));
        }
        binaries.read(into, ends, count);
    }

    private <V> V open(@Nullable V reader) throws IOException {
        if (reader == null) {
            throw pages.malformed("values of " + leaf.physical() + " in the encoding "
                    + Objects.requireNonNull(header).encoding(), "one that the type has");
        }
        return reader;
    }

    /** Returns a reader of values of variable size; null if they do not have the page's encoding. */
    private @Nullable Binaries binaries(PageHeader page, PageBytes in) throws IOException {
        if (leaf.type().id() == ArrowType.Id.NULL) {
            throw pages.malformed("a value in a column of type null", "none");
        }
        return switch (page.encoding()) {
            case PLAIN -> Binaries.plain(in);
            case PLAIN_DICTIONARY, RLE_DICTIONARY -> Binaries.dictionary(in, dictionary(), indices);
            case DELTA_LENGTH_BYTE_ARRAY -> Binaries.lengthsFirst(in, page.values());
            case DELTA_BYTE_ARRAY -> Binaries.sharedStarts(in, page.values());
            default -> null;
        };
    }

    /** Returns a reader of values of fixed size; null if they do not have the page's encoding. */
    private @Nullable Numbers numbers(PageHeader page, PageBytes in) throws IOException {
        int width = leaf.storedBytes();
        boolean isTruth = leaf.physical() == Physical.BOOLEAN;
        return switch (page.encoding()) {
            case PLAIN -> isTruth ? Numbers.plainBooleans(in) : Numbers.plain(in, width);
            case PLAIN_DICTIONARY, RLE_DICTIONARY -> Numbers.dictionary(in, dictionary(), width, indices);
            case RLE -> isTruth ? Numbers.runsOfBooleans(in) : null;
            case DELTA_BINARY_PACKED -> leaf.isInteger() ? Numbers.differences(in, width) : null;
            case DELTA_BYTE_ARRAY -> {
                if (leaf.physical() != Physical.FIXED_LEN_BYTE_ARRAY) {
                    yield null;
                }
                binaries = Binaries.sharedStarts(in, page.values());
                yield Numbers.ofBinaries(binaries, width);
            }
            case BYTE_STREAM_SPLIT -> isTruth ? null : Numbers.split(in, width);
            default -> null;
        };
    }

    private Dictionary dictionary() throws IOException {
        if (dictionary == null) {
            throw pages.malformed("indices of a missing dictionary", "a dictionary page first");
        }
        return dictionary;
    }

    private void closeValues() {
        if (binaries != null) {
            binaries.close();
        }
        numbers = null;
        binaries = null;
    }

    @Override
    public void close() {
        closeValues();
        arena.close();
    }
}
