package io.penstock.store.parquet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.codec.CodecException;
import io.penstock.memory.MappedFile;
import io.penstock.store.mapped.DecodedSpill;
import io.penstock.store.mapped.LittleEndian;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Decodes a column chunk: puts the values of its pages one behind the other, and makes of the levels what says which
 * row has which. Goes by tiles of a few thousand levels, so that what a page claims takes no memory before it is there.
 * One thread's, for one chunk.
 */
final class ChunkDecoder implements AutoCloseable {

    /** What a value of fixed length may take. */
    static final int MAX_VALUE_BYTES = 1 << 20;

    private static final int TILE = Numbers.TILE;
    private static final long FIRST_BYTES = 1 << 20;
    private static final int USUAL_EXPANSION = 8;

    private final Leaf leaf;
    private final ColumnChunk chunk;
    private final long rows;
    private final Pages pages;
    private final int tile;
    private final NativeBuffer values = new NativeBuffer();
    private final NativeBuffer offsets = new NativeBuffer();
    private final NativeBuffer valid = new NativeBuffer();
    private final NativeBuffer scratch = new NativeBuffer();
    private final int[] definitions = new int[TILE];
    private final int[] repetitions = new int[TILE];
    private final long[] ends = new long[TILE];
    private Dictionary dictionary;
    private Numbers numbers;
    private Binaries binaries;
    private long rowsDone;
    private long elementsDone;
    private long nulls;
    private boolean inList;

    /**
     * A decoder of one chunk.
     *
     * @param file the file
     * @param leaf what its values are
     * @param chunk where it is
     * @param rows of the row group
     */
    ChunkDecoder(MappedFile file, Leaf leaf, ColumnChunk chunk, long rows) {
        this.leaf = leaf;
        this.chunk = chunk;
        this.rows = rows;
        this.pages = new Pages(file, chunk);
        this.tile = leaf.isBinary() ? TILE : Math.clamp(MAX_VALUE_BYTES / leaf.storedBytes(), 1, TILE);
    }

    /** Decodes it into a copy. */
    ColumnBlock decode(DecodedSpill copy) throws IOException {
        try {
            decodePages();
            return finish(copy);
        } catch (CodecException e) {
            throw pages.malformed(e.getMessage(), "what its encoding says");
        }
    }

    private void decodePages() throws IOException {
        values.reserve(Math.min(chunk.values() * leaf.byteSize(),
                Math.max(FIRST_BYTES, chunk.byteSize() * USUAL_EXPANSION)));
        if (leaf.isBinary()) {
            appendOffset(0);
        }
        for (long left = chunk.values(); left > 0; ) {
            PageHeader header = pages.next();
            switch (header.kind()) {
                case DICTIONARY -> readDictionary(header);
                case DATA, DATA_V2 -> {
                    left -= header.values();
                    if (left < 0) {
                        throw pages.malformed("pages of " + (chunk.values() - left) + " values", chunk.values()
                                + ", as the column chunk has");
                    }
                    readData(header);
                }
                case INDEX -> { }
            }
        }
        if (rowsDone != rows) {
            throw pages.malformed("pages of " + rowsDone + " rows", rows + ", as the row group has");
        }
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

    private void readData(PageHeader header) throws IOException {
        PageBytes in;
        Levels repetition = null;
        Levels definition = null;
        if (header.kind() == PageHeader.Kind.DATA) {
            in = pages.bytes();
            if (leaf.isList()) {
                repetition = levels(in, header.repetitionEncoding(), 1, header.values());
            }
            if (leaf.maxDefinition() > 0) {
                definition = levels(in, header.definitionEncoding(), definitionBits(), header.values());
            }
        } else {
            in = pages.bytesBehindLevels();
            PageBytes repetitionBytes = in.part(header.repetitionBytes(), "levels");
            PageBytes definitionBytes = in.part(header.definitionBytes(), "levels");
            if (leaf.isList()) {
                repetition = new RunLengths(repetitionBytes, 1, "repetition levels");
            }
            if (leaf.maxDefinition() > 0) {
                definition = new RunLengths(definitionBytes, definitionBits(), "definition levels");
            }
        }
        long rowsBefore = rowsDone;
        readTiles(header, in, repetition, definition);
        if (header.rows() >= 0 && rowsDone - rowsBefore != header.rows()) {
            throw pages.malformed("a page of " + (rowsDone - rowsBefore) + " rows", header.rows() + ", as it says");
        }
    }

    private int definitionBits() {
        return Integer.SIZE - Integer.numberOfLeadingZeros(leaf.maxDefinition());
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

    private void readTiles(PageHeader header, PageBytes in, Levels repetition, Levels definition) throws IOException {
        numbers = null;
        binaries = null;
        try {
            for (int done = 0; done < header.values(); ) {
                int count = Math.min(tile, header.values() - done);
                if (definition != null) {
                    definition.read(definitions, count);
                }
                int present;
                if (repetition != null) {
                    repetition.read(repetitions, count);
                    present = readLists(count);
                } else {
                    present = readRows(count, definition != null);
                }
                if (present > 0 && numbers == null && binaries == null) {
                    openValues(header, in);
                }
                if (leaf.isBinary()) {
                    appendBinaries(count, present);
                } else {
                    appendNumbers(repetition == null ? count : present, present);
                }
                done += count;
            }
        } finally {
            if (binaries != null) {
                binaries.close();
            }
        }
    }

    /** Takes in the definition levels of rows of one value each; gives how many of them have one. */
    private int readRows(int count, boolean optional) throws CodecException {
        checkRows(count);
        if (!optional) {
            return count;
        }
        int max = leaf.maxDefinition();
        long at = valid.reserve(count);
        MemorySegment flags = valid.segment();
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
        valid.advance(count);
        nulls += count - present;
        return present;
    }

    /** Takes in the levels of lists; gives how many elements they have. */
    private int readLists(int count) throws CodecException {
        int element = leaf.listDefinition();
        int max = leaf.maxDefinition();
        long offsetAt = offsets.reserve((long) count * Integer.BYTES);
        long validAt = valid.reserve(count);
        MemorySegment starts = offsets.segment();
        MemorySegment flags = valid.segment();
        int started = 0;
        int elements = 0;
        for (int i = 0; i < count; i++) {
            int level = definitions[i];
            if (repetitions[i] == 0) {
                int there = level >= element - 1 ? 1 : 0;
                starts.set(LittleEndian.I32, offsetAt + (long) started * Integer.BYTES,
                        (int) (elementsDone + elements));
                flags.set(JAVA_BYTE, validAt + started, (byte) there);
                nulls += 1 - there;
                started++;
                inList = level >= element;
            } else if (!inList || level < element) {
                throw new CodecException("levels that continue a list that has no elements");
            }
            if (level >= element) {
                if (level != max) {
                    throw new CodecException(level > max ? "the definition level " + level + " of at most " + max
                            : "a null within the list of row " + (rowsDone + started - 1) + " of its row group");
                }
                elements++;
            }
        }
        checkRows(started);
        offsets.advance((long) started * Integer.BYTES);
        valid.advance(started);
        elementsDone += elements;
        return elements;
    }

    private void checkRows(int more) throws CodecException {
        rowsDone += more;
        if (rowsDone > rows) {
            throw new CodecException("more than the " + rows + " rows that the row group has");
        }
    }

    private void openValues(PageHeader header, PageBytes in) throws IOException {
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

    private void appendBinaries(int count, int present) throws CodecException {
        long end = values.used();
        if (present > 0) {
            binaries.read(values, ends, present);
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

    /** Appends the values of some rows or elements, of which some are there. */
    private void appendNumbers(int count, int present) throws CodecException {
        int stored = leaf.storedBytes();
        int width = leaf.byteSize();
        long at = values.reserve((long) count * width);
        if (present == count && stored == width) {
            if (count > 0) {
                numbers.read(values.segment(), at, count);
            }
        } else {
            scratch.reserve((long) present * stored);
            MemorySegment packed = scratch.segment();
            if (present > 0) {
                numbers.read(packed, 0, present);
                narrow(packed, present, stored, width);
            }
            if (present == count) {
                MemorySegment.copy(packed, 0, values.segment(), at, (long) count * width);
            } else {
                scatter(packed, count, width, at);
            }
        }
        values.advance((long) count * width);
    }

    /** Small integers are stored as 32 bits: keeps the low ones, in place. */
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

    /** Puts values where their rows are, and zeros where there is none. */
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

    private ColumnBlock finish(DecodedSpill copy) throws IOException {
        boolean varies = leaf.isBinary() || leaf.isList();
        if (leaf.isList()) {
            appendOffset(elementsDone);
            checkLengths();
        }
        MemorySegment validRows = nulls > 0 ? valid.written() : MemorySegment.NULL;
        DecodedSpill.Place place = copy.append(values.written(), offsets.written(), validRows);
        long offsetsAt = place.offset() + DecodedSpill.aligned(values.used());
        long validAt = offsetsAt + DecodedSpill.aligned(offsets.used());
        return new ColumnBlock(place, place.offset(), leaf.byteSize(), varies ? offsetsAt : -1,
                nulls > 0 ? validAt : -1);
    }

    private void appendOffset(long value) throws CodecException {
        long at = offsets.reserve(Integer.BYTES);
        offsets.segment().set(LittleEndian.I32, at, (int) value);
        offsets.advance(Integer.BYTES);
    }

    /** Lists of a fixed size are as long as the schema says. */
    private void checkLengths() throws IOException {
        long expected = leaf.listLength();
        MemorySegment starts = offsets.segment();
        for (long row = 0; expected >= 0 && row < rows; row++) {
            long length = starts.get(LittleEndian.I32, 4 * row + 4) - starts.get(LittleEndian.I32, 4 * row);
            if (length != expected && valid.segment().get(JAVA_BYTE, row) != 0) {
                throw pages.malformed("a list of " + length + " elements in row " + row + " of its row group",
                        expected + ", as the schema says");
            }
        }
    }

    @Override
    public void close() {
        pages.close();
        values.close();
        offsets.close();
        valid.close();
        scratch.close();
    }
}
