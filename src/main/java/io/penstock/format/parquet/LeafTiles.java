package io.penstock.format.parquet;

import io.penstock.codec.CodecException;
import io.penstock.codec.DecodeLimit;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Goes over the pages of a column chunk by tiles of a few thousand levels, so that what a page claims takes no memory
 * before it is there. One thread's.
 */
final class LeafTiles implements AutoCloseable {

    /** What a value of fixed length may take. */
    static final int MAX_VALUE_BYTES = 1 << 20;

    private static final int TILE = Numbers.TILE;

    private final StoredLeaf leaf;
    private final ColumnChunk chunk;
    private final Pages pages;
    private final int tile;
    private final int[] definitions = new int[TILE];
    private final int[] repetitions = new int[TILE];
    private Dictionary dictionary;
    private long valuesLeft;
    private PageHeader header;
    private PageBytes values;
    private Levels repetition;
    private Levels definition;
    private int pageDone;
    private long pageRows;
    private Numbers numbers;
    private Binaries binaries;

    /**
     * The tiles of one chunk.
     *
     * @param file the file
     * @param leaf how its values are stored
     * @param chunk where they are
     * @param budget what the file may still decode to
     */
    LeafTiles(MappedFile file, StoredLeaf leaf, ColumnChunk chunk, DecodeLimit.Budget budget) {
        this.leaf = leaf;
        this.chunk = chunk;
        this.pages = new Pages(file, chunk, budget);
        this.tile = leaf.isBinary() ? TILE : Math.clamp(MAX_VALUE_BYTES / leaf.storedBytes(), 1, TILE);
        this.valuesLeft = chunk.values();
    }

    /** The definition levels of the tile; zeros if there are none. */
    int[] definitions() {
        return definitions;
    }

    /** The repetition levels of the tile; zeros if there are none. */
    int[] repetitions() {
        return repetitions;
    }

    /** An error in the page that is read. */
    MalformedStoreException malformed(String found, String expected) {
        return pages.malformed(found, expected);
    }

    /** Goes to the next tile; gives how many levels it has, 0 behind the last one. All values before it are read. */
    int next() throws IOException {
        while (header == null || pageDone == header.values()) {
            endPage();
            if (valuesLeft == 0) {
                return 0;
            }
            nextPage();
        }
        int count = Math.min(tile, header.values() - pageDone);
        pageDone += count;
        if (definition != null) {
            definition.read(definitions, count);
        }
        if (repetition == null) {
            pageRows += count;
        } else {
            repetition.read(repetitions, count);
            for (int i = 0; i < count; i++) {
                pageRows += repetitions[i] == 0 ? 1 : 0;
            }
        }
        return count;
    }

    private void endPage() throws IOException {
        closeValues();
        if (header != null && header.rows() >= 0 && pageRows != header.rows()) {
            throw pages.malformed("a page of " + pageRows + " rows", header.rows() + ", as it says");
        }
        header = null;
    }

    private void nextPage() throws IOException {
        while (header == null) {
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
                }
                case INDEX -> { }
            }
        }
        pageDone = 0;
        pageRows = 0;
    }

    private void readDictionary(PageHeader header) throws IOException {
        if (dictionary != null) {
            throw pages.malformed("a second dictionary", "one a column chunk");
        }
        if (header.encoding() != Encoding.PLAIN && header.encoding() != Encoding.PLAIN_DICTIONARY
                || leaf.physical() == Physical.BOOLEAN) {
            throw pages.malformed("a dictionary of " + leaf.physical() + " in the encoding " + header.encoding(),
                    "PLAIN");
        }
        PageBytes in = pages.dictionaryBytes();
        dictionary = leaf.isBinary() ? Dictionary.ofBinaries(in, header.values(), pages.dictionaryArena())
                : Dictionary.ofNumbers(in, header.values(), leaf.storedBytes());
    }

    private void openPage(PageHeader header) throws IOException {
        repetition = null;
        definition = null;
        if (header.kind() == PageHeader.Kind.DATA) {
            values = pages.bytes();
            if (leaf.maxRepetition() > 0) {
                repetition = levels(values, header.repetitionEncoding(), bits(leaf.maxRepetition()), header.values());
            }
            if (leaf.maxDefinition() > 0) {
                definition = levels(values, header.definitionEncoding(), bits(leaf.maxDefinition()), header.values());
            }
        } else {
            values = pages.bytesBehindLevels();
            PageBytes repetitionBytes = values.part(header.repetitionBytes(), "levels");
            PageBytes definitionBytes = values.part(header.definitionBytes(), "levels");
            if (leaf.maxRepetition() > 0) {
                repetition = new RunLengths(repetitionBytes, bits(leaf.maxRepetition()), "repetition levels");
            }
            if (leaf.maxDefinition() > 0) {
                definition = new RunLengths(definitionBytes, bits(leaf.maxDefinition()), "definition levels");
            }
        }
    }

    private static int bits(int maxLevel) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(maxLevel);
    }

    private static Levels levels(PageBytes in, Encoding encoding, int bits, int count) throws CodecException {
        if (encoding == Encoding.BIT_PACKED) {
            return Levels.bitPacked(in.part(((long) count * bits + 7) / 8, "levels"), bits);
        }
        if (encoding != Encoding.RLE) {
            throw new CodecException("levels in the encoding " + encoding);
        }
        return new RunLengths(in.part(in.i32("levels"), "levels"), bits, "levels");
    }

    /** Reads the next values of fixed size. */
    void read(MemorySegment into, long at, int count) throws IOException {
        openValues();
        numbers.read(into, at, count);
    }

    /** Reads the next values of other sizes. */
    void read(NativeBuffer into, long[] ends, int count) throws IOException {
        openValues();
        binaries.read(into, ends, count);
    }

    private void openValues() throws IOException {
        if (numbers != null || binaries != null) {
            return;
        }
        PageBytes in = values;
        Encoding encoding = header.encoding();
        boolean integer = leaf.physical() == Physical.INT32 || leaf.physical() == Physical.INT64;
        boolean fixed = leaf.physical() == Physical.FIXED_LEN_BYTE_ARRAY;
        boolean truth = leaf.physical() == Physical.BOOLEAN;
        if (leaf.isNull()) {
            throw pages.malformed("a value in a column of type null", "none");
        }
        switch (encoding) {
            case PLAIN -> {
                if (leaf.isBinary()) {
                    binaries = Binaries.plain(in);
                } else {
                    numbers = truth ? Numbers.plainBooleans(in) : Numbers.plain(in, leaf.storedBytes());
                }
            }
            case PLAIN_DICTIONARY, RLE_DICTIONARY -> openIndices(in);
            case RLE -> numbers = truth ? Numbers.runsOfBooleans(in) : null;
            case DELTA_BINARY_PACKED -> numbers = integer ? Numbers.differences(in, leaf.storedBytes()) : null;
            case DELTA_LENGTH_BYTE_ARRAY ->
                binaries = leaf.isBinary() ? Binaries.lengthsFirst(in, header.values()) : null;
            case DELTA_BYTE_ARRAY -> {
                if (leaf.isBinary() || fixed) {
                    binaries = Binaries.sharedStarts(in, header.values());
                    numbers = fixed ? Numbers.ofBinaries(binaries, leaf.storedBytes()) : null;
                }
            }
            case BYTE_STREAM_SPLIT ->
                numbers = leaf.isBinary() || truth ? null : Numbers.split(in, leaf.storedBytes());
            case null, default -> { }
        }
        if (numbers == null && binaries == null) {
            throw pages.malformed("values of " + leaf.physical() + " in the encoding " + encoding,
                    "one that the type has");
        }
    }

    private void openIndices(PageBytes in) throws IOException {
        if (dictionary == null) {
            throw pages.malformed("indices of a dictionary that is not there", "a dictionary page first");
        }
        if (leaf.isBinary()) {
            binaries = Binaries.dictionary(in, dictionary);
        } else {
            numbers = Numbers.dictionary(in, dictionary.entries(), dictionary.count(), leaf.storedBytes());
        }
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
        pages.close();
    }
}
