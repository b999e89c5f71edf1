package io.penstock.store.arrow;

import io.penstock.memory.MappedFile;
import io.penstock.memory.Span;
import io.penstock.store.MalformedStoreException;
import io.penstock.store.arrow.ArrowBatch.Stored;
import io.penstock.store.arrow.ArrowLeaf.Layout;
import io.penstock.store.arrow.ArrowLeaf.Level;
import io.penstock.store.mapped.LittleEndian;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the values of one column are, batch by batch.
 *
 * <p>A place is a byte's offset in the batch's file, {@link #ABSENT}, or, below that, {@code -2 - n} for the decoded
 * buffer {@code n}. What has a size that follows from the number of rows is checked when the batch is added; offsets
 * are when they are read, two a value, so that opening costs nothing a row.
 */
final class ArrowColumn {

    /** The place of a bitmap that is not needed: no value is null. */
    private static final long ABSENT = -1;
    private static final int FIRST_DECODED = -2;

    private final ArrowLeaf leaf;
    private final DecodedBuffers decoded;
    private final List<MappedFile> files = new ArrayList<>();
    private final Longs starts = new Longs();
    private final Longs dataPlaces = new Longs();
    private final Longs offsetPlaces = new Longs();
    /** For each batch how many items there are, which no offset may exceed. */
    private final Longs items = new Longs();
    /** For each level the places of the bitmaps; null where no value was null yet. */
    private final Longs[] validity;
    /** The values of a dictionary-encoded column. */
    private final ArrowDictionary dictionary;
    /** For each batch the dictionary that it was written with. */
    private final Longs dictionaryVersions = new Longs();
    private String refusal;
    private boolean isConverted;

    private MappedFile[] fileOf;
    private long[] data;
    private long[] offsets;
    private long[] itemCounts;
    private long[][] bitmaps;
    private RowIndex index;

    ArrowColumn(ArrowLeaf leaf, DecodedBuffers decoded) {
        this.leaf = leaf;
        this.decoded = decoded;
        this.validity = new Longs[leaf.levels().size()];
        this.dictionary = leaf.layout() == Layout.DICTIONARY
                ? new ArrowDictionary(new ArrowColumn(leaf.values(), decoded)) : null;
        starts.add(0);
    }

    ArrowLeaf leaf() {
        return leaf;
    }

    /** The dictionary; null if the column has none. */
    ArrowDictionary dictionary() {
        return dictionary;
    }

    /** Why the column cannot be given; null if it can. */
    String refusal() {
        return refusal != null || dictionary == null ? refusal : dictionary.values().refusal();
    }

    boolean isConverted() {
        return isConverted || dictionary != null && dictionary.values().isConverted();
    }

    /** Adds the column's part of a batch. */
    void add(ArrowBatch batch) throws MalformedStoreException {
        int number = files.size();
        if (batch.rows() > Long.MAX_VALUE - starts.last()) {
            throw batch.malformed(batch.rows() + " rows behind " + starts.last(), "fewer");
        }
        files.add(batch.file());
        starts.add(starts.last() + batch.rows());
        addLevels(batch, number);
        switch (leaf.layout()) {
            case NONE -> { }
            case FIXED, DICTIONARY -> dataPlaces.add(place(batch, leaf.data(), batch.rows()));
            case VARIABLE -> addVariable(batch);
        }
        if (dictionary != null) {
            dictionaryVersions.add(dictionary.version());
        }
    }

    private void addLevels(ArrowBatch batch, int number) throws MalformedStoreException {
        long allowedNulls = 0;
        for (int l = 0; l < validity.length; l++) {
            Level level = leaf.levels().get(l);
            long length = batch.length(level.node(), leaf.name());
            long nulls = batch.nulls(level.node());
            if (!level.inItems() && (level.perRow() == 1 ? length != batch.rows()
                    : level.perRow() > 0 && length / level.perRow() < batch.rows())) {
                throw batch.malformed("column '" + leaf.name() + "' of " + length + " values", "for each of "
                        + batch.rows() + " rows " + level.perRow());
            }
            if (level.inItems() ? nulls != 0 : level.perRow() != 1 && nulls > allowedNulls * level.perRow()) {
                refusal = "lists of which some items are null";
            }
            allowedNulls += nulls < 0 ? batch.rows() : nulls;
            long place = ABSENT;
            if (nulls != 0 && !level.inItems()) {
                Stored stored = batch.buffer(level.validity(), leaf.name());
                if (stored.size() == 0 && nulls > 0 || stored.size() > 0 && stored.size() < (length + 7) / 8) {
                    throw tooShort(batch, stored, (length + 7) / 8);
                }
                place = stored.size() == 0 ? ABSENT : place(batch, stored, -1);
            }
            if (place != ABSENT && validity[l] == null) {
                validity[l] = new Longs();
            }
            if (validity[l] != null) {
                validity[l].fill(number, ABSENT);
                validity[l].add(place);
            }
        }
    }

    private void addVariable(ArrowBatch batch) throws MalformedStoreException {
        Stored stored = batch.buffer(leaf.offsets(), leaf.name());
        long needed = batch.rows() == 0 ? 0 : batch.rows() + 1;
        if (stored.size() / leaf.offsetBytes() < needed) {
            throw tooShort(batch, stored, needed * leaf.offsetBytes());
        }
        offsetPlaces.add(place(batch, stored, -1));
        if (leaf.itemsAreBytes()) {
            Stored bytes = batch.buffer(leaf.data(), leaf.name());
            items.add(bytes.size());
            convert(bytes, false);
            dataPlaces.add(place(batch, bytes, -1));
        } else {
            // The first level within the lists is the array of their items.
            Level child = leaf.levels().stream().filter(Level::inItems).findFirst().orElseThrow();
            long count = batch.length(child.node(), leaf.name());
            for (Level level : leaf.levels()) {
                long length = batch.length(level.node(), leaf.name());
                if (level.isRegular() && (length % level.perRow() != 0 || length / level.perRow() != count)) {
                    refusal = "lists of other lengths than its shape says";
                }
            }
            items.add(count);
            dataPlaces.add(place(batch, leaf.data(), count));
        }
    }

    /** The place of a buffer of so many values, which is checked to hold them. */
    private long place(ArrowBatch batch, ArrowLeaf.Slot slot, long count) throws MalformedStoreException {
        Stored stored = batch.buffer(slot, leaf.name());
        boolean bits = leaf.itemBits() > 0;
        long fit = bits ? stored.size() > Long.MAX_VALUE / 8 ? Long.MAX_VALUE : stored.size() * 8 / leaf.itemBits()
                : leaf.itemBytes() == 0 ? Long.MAX_VALUE : stored.size() / leaf.itemBytes();
        if (fit < count) {
            throw new MalformedStoreException(batch.file().path(), stored.offset(), "column '" + leaf.name()
                    + "': a buffer of " + stored.size() + " bytes", count + " values of "
                    + (bits ? leaf.itemBits() + " bits" : leaf.itemBytes() + " bytes"));
        }
        convert(stored, bits);
        return place(batch, stored, bits ? count * leaf.itemBits() : -1);
    }

    private void convert(Stored stored, boolean bits) {
        isConverted |= bits || stored.decodedBytes() > 0;
    }

    private long place(ArrowBatch batch, Stored stored, long bits) {
        if (bits < 0 && stored.decodedBytes() < 0 || stored.size() == 0) {
            return stored.offset();
        }
        return FIRST_DECODED - (long) decoded.add(batch.file(), stored, batch.compression(), bits);
    }

    private MalformedStoreException tooShort(ArrowBatch batch, Stored stored, long expected) {
        return new MalformedStoreException(batch.file().path(), stored.offset(), "column '" + leaf.name()
                + "': a buffer of " + stored.size() + " bytes", "at least " + expected);
    }

    /** All batches are added. */
    void freeze(RowIndex rows) {
        index = rows;
        fileOf = files.toArray(MappedFile[]::new);
        data = dataPlaces.toArray();
        offsets = offsetPlaces.toArray();
        itemCounts = items.toArray();
        bitmaps = new long[validity.length][];
        for (int l = 0; l < validity.length; l++) {
            if (validity[l] != null) {
                validity[l].fill(fileOf.length, ABSENT);
                bitmaps[l] = validity[l].toArray();
            }
        }
        if (dictionary != null) {
            ArrowColumn values = dictionary.values();
            values.freeze(new RowIndex(values.starts.toArray()));
        }
    }

    /** How many rows all batches have. */
    long rows() {
        return starts.last();
    }

    /** The first row of each batch, and the number of rows behind them. */
    long[] starts() {
        return starts.toArray();
    }

    /** Whether rows take space in a batch, so that the file's size bounds their number. */
    boolean hasWeight() {
        return leaf.layout() == Layout.VARIABLE || leaf.itemBytes() > 0;
    }

    /** Whether a row has a value; it is in the index. Where that cannot be told, {@link #locate} says why. */
    boolean isPresent(long row) {
        if (leaf.layout() == Layout.NONE) {
            return false;
        }
        int batch = index.batch(row);
        try {
            return isPresent(batch, row - index.start(batch))
                    && (dictionary == null || dictionary.isPresent(key(batch, row - index.start(batch)),
                            (int) dictionaryVersions.get(batch)));
        } catch (UncheckedIOException _) {
            return true;
        }
    }

    private boolean isPresent(int batch, long row) {
        for (int l = 0; l < bitmaps.length; l++) {
            if (bitmaps[l] != null && bitmaps[l][batch] != ABSENT
                    && !areSet(batch, bitmaps[l][batch], row, leaf.levels().get(l).perRow())) {
                return false;
            }
        }
        return true;
    }

    private boolean areSet(int batch, long place, long row, long perRow) {
        for (long bit = row * perRow; bit < (row + 1) * perRow; bit++) {
            if ((get(batch, place, bit >> 3) >> (bit & 7) & 1) == 0) {
                return false;
            }
        }
        return true;
    }

    private byte get(int batch, long place, long offset) {
        return place >= 0 ? fileOf[batch].segment().get(ValueLayout.JAVA_BYTE, place + offset)
                : decoded.get((int) (FIRST_DECODED - place), offset);
    }

    /** Points at the value of a row; it is in the index. */
    void locate(long row, Span into) {
        int batch = index.batch(row);
        long inBatch = row - index.start(batch);
        if (leaf.layout() == Layout.NONE || !isPresent(batch, inBatch)) {
            throw malformed(batch, row, "no value: it is null", "a value");
        }
        switch (leaf.layout()) {
            case FIXED -> point(batch, data[batch], inBatch * leaf.itemBytes(), leaf.itemBytes(), into);
            case VARIABLE -> locateVariable(batch, inBatch, row, into);
            case DICTIONARY -> {
                if (!dictionary.locate(key(batch, inBatch), (int) dictionaryVersions.get(batch), into)) {
                    throw malformed(batch, row, "index " + key(batch, inBatch), "that of a value in its dictionary");
                }
            }
            case NONE -> throw new AssertionError();
        }
    }

    private void locateVariable(int batch, long inBatch, long row, Span into) {
        int width = leaf.offsetBytes();
        point(batch, offsets[batch], inBatch * width, 2L * width, into);
        MemorySegment segment = into.segment();
        long at = into.byteOffset();
        long from = width == Long.BYTES ? segment.get(LittleEndian.I64, at) : segment.get(LittleEndian.I32, at);
        long to = width == Long.BYTES ? segment.get(LittleEndian.I64, at + width)
                : segment.get(LittleEndian.I32, at + width);
        if (from < 0 || to < from || to > itemCounts[batch]) {
            throw malformed(batch, row, "offsets " + from + " to " + to, "rising ones within 0 to "
                    + itemCounts[batch]);
        }
        if (leaf.itemCount() >= 0 && to - from != leaf.itemCount()) {
            throw malformed(batch, row, (to - from) + " items", leaf.itemCount() + ", as its shape says");
        }
        point(batch, data[batch], from * leaf.itemBytes(), (to - from) * leaf.itemBytes(), into);
    }

    private void point(int batch, long place, long offset, long bytes, Span into) {
        if (place >= 0) {
            into.set(fileOf[batch], place + offset, bytes);
        } else {
            decoded.locate((int) (FIRST_DECODED - place), offset, bytes, into);
        }
    }

    /** A dictionary's index, of a row that is not null. Bytes one by one: there are up to 8. */
    private long key(int batch, long inBatch) {
        long key = 0;
        int bytes = (int) leaf.itemBytes();
        for (int i = bytes - 1; i >= 0; i--) {
            key = key << Byte.SIZE | get(batch, data[batch], inBatch * bytes + i) & 0xFF;
        }
        int unused = Long.SIZE - bytes * Byte.SIZE;
        return leaf.index().index().isSigned() ? key << unused >> unused : key;
    }

    private UncheckedIOException malformed(int batch, long row, String found, String expected) {
        return new UncheckedIOException(new MalformedStoreException(fileOf[batch].path(), "row " + row + " of column '"
                + leaf.name() + "', row " + (row - index.start(batch)) + " of its batch: " + found, expected));
    }
}
