package io.penstock.format.arrow;

import static io.penstock.format.arrow.DecodedBuffers.ABSENT;

import io.penstock.format.arrow.ArrowBatch.Stored;
import io.penstock.format.arrow.ArrowLeaf.Layout;
import io.penstock.format.arrow.ArrowLeaf.Level;
import io.penstock.io.MalformedStoreException;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A column of numbers, of lists of numbers, of bytes or text, whose values are read where they lie.
 *
 * <p>What has a size that follows from the number of rows is checked when the batch is added; offsets are when they are
 * read, two a value, so that opening costs nothing a row.
 */
final class ArrowValues implements ArrowColumn {

    private static final int VIEW_BYTES = 16;
    private static final int INLINE_BYTES = 12;

    private final ArrowLeaf leaf;
    private final DecodedBuffers decoded;
    private final List<MappedFile> files = new ArrayList<>();
    private final Longs starts = new Longs();
    private final Longs dataPlaces = new Longs();
    private final Longs offsetPlaces = new Longs();
    private final Longs sizePlaces = new Longs();
    /** The data buffers of views, and for each batch its first one. */
    private final Longs viewedPlaces = new Longs();
    private final Longs viewedBytes = new Longs();
    private final Longs firstViewed = new Longs();
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
    private long[] sizes;
    private long[] itemCounts;
    private long[][] bitmaps;
    private RowIndex index;

    ArrowValues(ArrowLeaf leaf, DecodedBuffers decoded) {
        this.leaf = leaf;
        this.decoded = decoded;
        this.validity = new Longs[leaf.levels().size()];
        this.dictionary = leaf.layout() == Layout.DICTIONARY
                ? new ArrowDictionary(leaf.values().open(decoded)) : null;
        starts.add(0);
    }

    @Override
    public ArrowLeaf shape() {
        return leaf;
    }

    @Override
    public List<ArrowDictionary> dictionaries() {
        return dictionary == null ? List.of() : List.of(dictionary);
    }

    @Override
    public String refusal() {
        return refusal != null || dictionary == null ? refusal : dictionary.values().refusal();
    }

    @Override
    public boolean isConverted() {
        return isConverted || dictionary != null && dictionary.values().isConverted();
    }

    @Override
    public void add(ArrowBatch batch) throws MalformedStoreException {
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
            case VIEW -> addViews(batch);
        }
        if (dictionary != null) {
            dictionaryVersions.add(dictionary.version());
        }
    }

    private void addLevels(ArrowBatch batch, int number) throws MalformedStoreException {
        long items = batch.rows();
        for (int l = 0; l < validity.length; l++) {
            Level level = leaf.levels().get(l);
            long length = batch.length(level.node(), leaf.name());
            long nulls = batch.nulls(level.node());
            items = level.inItems() && level.perRow() == 1 ? length : items;
            if (!level.isRegular() && (level.isOfRow() ? length != batch.rows()
                    : level.perRow() > 0 && length / level.perRow() < items)) {
                throw batch.malformed("column '" + leaf.name() + "' of " + length + " values", "for each of "
                        + items + (level.inItems() ? " items " : " rows ") + level.perRow());
            }
            long place = ABSENT;
            if (nulls != 0) {
                Stored stored = batch.buffer(level.validity(), leaf.name());
                if (stored.size() == 0 && nulls > 0 || stored.size() > 0 && stored.size() < Math.ceilDiv(length, 8)) {
                    throw tooShort(batch, stored, Math.ceilDiv(length, 8));
                }
                place = stored.size() == 0 ? ABSENT : decoded.place(batch, stored, -1);
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

    private void addViews(ArrowBatch batch) throws MalformedStoreException {
        Stored stored = batch.buffer(leaf.offsets(), leaf.name());
        if (stored.size() / VIEW_BYTES < batch.rows()) {
            throw tooShort(batch, stored, batch.rows() * VIEW_BYTES);
        }
        offsetPlaces.add(decoded.place(batch, stored, -1));
        convert(stored, false);
        firstViewed.add(viewedPlaces.count());
        long count = batch.dataBuffers(leaf.offsets().viewsBefore());
        for (long i = 0; i < count; i++) {
            Stored bytes = batch.buffer(leaf.offsets().dataOfViews(i), leaf.name());
            viewedPlaces.add(decoded.place(batch, bytes, -1));
            viewedBytes.add(bytes.size());
            convert(bytes, false);
        }
    }

    private void addVariable(ArrowBatch batch) throws MalformedStoreException {
        boolean sized = leaf.sizes() != null;
        addOffsets(batch, leaf.offsets(), sized || batch.rows() == 0 ? batch.rows() : batch.rows() + 1, offsetPlaces);
        if (sized) {
            addOffsets(batch, leaf.sizes(), batch.rows(), sizePlaces);
        }
        if (leaf.itemsAreBytes()) {
            Stored bytes = batch.buffer(leaf.data(), leaf.name());
            items.add(bytes.size());
            convert(bytes, false);
            dataPlaces.add(decoded.place(batch, bytes, -1));
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

    private void addOffsets(ArrowBatch batch, ArrowShape.Slot slot, long count, Longs places)
            throws MalformedStoreException {
        Stored stored = batch.buffer(slot, leaf.name());
        if (stored.size() / leaf.offsetBytes() < count) {
            throw tooShort(batch, stored, count * leaf.offsetBytes());
        }
        places.add(decoded.place(batch, stored, -1));
    }

    /** The place of a buffer of so many values, which is checked to hold them. */
    private long place(ArrowBatch batch, ArrowShape.Slot slot, long count) throws MalformedStoreException {
        Stored stored = batch.buffer(slot, leaf.name());
        boolean bits = leaf.itemBits() > 0;
        long fit = bits ? stored.size() > Long.MAX_VALUE / 8 ? Long.MAX_VALUE : stored.size() * 8 / leaf.itemBits()
                : leaf.itemBytes() == 0 ? Long.MAX_VALUE : stored.size() / leaf.itemBytes();
        if (fit < count) {
            throw new MalformedStoreException(batch.file().location(), stored.offset(), "column '" + leaf.name()
                    + "': a buffer of " + stored.size() + " bytes", count + " values of "
                    + (bits ? leaf.itemBits() + " bits" : leaf.itemBytes() + " bytes"));
        }
        convert(stored, bits);
        return decoded.place(batch, stored, bits ? count * leaf.itemBits() : -1);
    }

    private void convert(Stored stored, boolean bits) {
        isConverted |= bits || stored.decodedBytes() > 0;
    }

    private MalformedStoreException tooShort(ArrowBatch batch, Stored stored, long expected) {
        return new MalformedStoreException(batch.file().location(), stored.offset(), "column '" + leaf.name()
                + "': a buffer of " + stored.size() + " bytes", "at least " + expected);
    }

    @Override
    public void freeze(RowIndex rows) {
        index = rows;
        fileOf = files.toArray(MappedFile[]::new);
        data = dataPlaces.toArray();
        offsets = offsetPlaces.toArray();
        sizes = sizePlaces.toArray();
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
            values.freeze(new RowIndex(values.starts()));
        }
    }

    @Override
    public long rows() {
        return starts.last();
    }

    @Override
    public long[] starts() {
        return starts.toArray();
    }

    @Override
    public boolean isPresent(long row) {
        if (leaf.layout() == Layout.NONE) {
            return false;
        }
        int batch = index.batch(row);
        try {
            long inBatch = row - index.start(batch);
            return !isNull(batch, inBatch) && !hasNullWithin(batch, inBatch, row) && (dictionary == null
                    || dictionary.isPresent(key(batch, inBatch), (int) dictionaryVersions.get(batch)));
        } catch (UncheckedIOException _) {
            return true;
        }
    }

    private boolean isNull(int batch, long row) {
        for (int l = 0; l < bitmaps.length; l++) {
            if (leaf.levels().get(l).isOfRow() && !areSet(batch, l, row, 1)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a list has a null in it, for which a tensor has no place. */
    private boolean hasNullWithin(int batch, long inBatch, long row) {
        for (int l = 0; l < bitmaps.length; l++) {
            Level level = leaf.levels().get(l);
            if (level.isOfRow() || bitmaps[l] == null || bitmaps[l][batch] == ABSENT) {
                continue;
            }
            long first = level.inItems() ? first(batch, inBatch) : inBatch;
            long count = level.inItems() ? end(batch, inBatch, row) - first : 1;
            if (!areSet(batch, l, first * level.perRow(), count * level.perRow())) {
                return true;
            }
        }
        return false;
    }

    private boolean areSet(int batch, int level, long first, long count) {
        long place = bitmaps[level] == null ? ABSENT : bitmaps[level][batch];
        for (long bit = first; place != ABSENT && bit < first + count; bit++) {
            if ((decoded.number(fileOf[batch], place, bit >> 3, Byte.BYTES) >> (bit & 7) & 1) == 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void locate(long row, Span into) {
        int batch = index.batch(row);
        long inBatch = row - index.start(batch);
        if (leaf.layout() == Layout.NONE || isNull(batch, inBatch)) {
            throw malformed(batch, row, "no value: it is null", "a value");
        }
        if (hasNullWithin(batch, inBatch, row)) {
            throw malformed(batch, row, "a list of which an item is null", "numbers");
        }
        switch (leaf.layout()) {
            case FIXED -> point(batch, data[batch], inBatch * leaf.itemBytes(), leaf.itemBytes(), into);
            case VARIABLE -> {
                long first = first(batch, inBatch);
                long count = end(batch, inBatch, row) - first;
                if (leaf.itemCount() >= 0 && count != leaf.itemCount()) {
                    throw malformed(batch, row, count + " items", leaf.itemCount() + ", as its shape says");
                }
                point(batch, data[batch], first * leaf.itemBytes(), count * leaf.itemBytes(), into);
            }
            case VIEW -> locateView(batch, inBatch, row, into);
            case DICTIONARY -> {
                if (!dictionary.locate(key(batch, inBatch), (int) dictionaryVersions.get(batch), into)) {
                    throw malformed(batch, row, "index " + key(batch, inBatch), "that of a value in its dictionary");
                }
            }
            case NONE -> throw new AssertionError();
        }
    }

    /** The first item of a row. */
    private long first(int batch, long inBatch) {
        return number(batch, offsets[batch], inBatch, leaf.offsetBytes());
    }

    /** The item behind a row's last one, which is checked. */
    private long end(int batch, long inBatch, long row) {
        long from = first(batch, inBatch);
        long size = leaf.sizes() == null ? 0 : number(batch, sizes[batch], inBatch, leaf.offsetBytes());
        long to = leaf.sizes() == null ? number(batch, offsets[batch], inBatch + 1, leaf.offsetBytes())
                : from + Math.min(size, Long.MAX_VALUE - Math.max(from, 0));
        if (from < 0 || to < from || to > itemCounts[batch]) {
            throw malformed(batch, row, "offsets " + from + " to " + to, "rising ones within 0 to "
                    + itemCounts[batch]);
        }
        return to;
    }

    private long number(int batch, long place, long index, int width) {
        return decoded.number(fileOf[batch], place, index * width, width);
    }

    /** A length; then the value itself, if it is short, or its first 4 bytes, a data buffer and an offset in it. */
    private void locateView(int batch, long inBatch, long row, Span into) {
        long place = offsets[batch];
        long view = inBatch * (VIEW_BYTES / Integer.BYTES);
        long length = number(batch, place, view, Integer.BYTES);
        if (length >= 0 && length <= INLINE_BYTES) {
            point(batch, place, inBatch * VIEW_BYTES + Integer.BYTES, length, into);
            return;
        }
        long buffer = number(batch, place, view + 2, Integer.BYTES);
        long offset = number(batch, place, view + 3, Integer.BYTES);
        long first = firstViewed.get(batch);
        long count = (batch + 1 < firstViewed.count() ? firstViewed.get(batch + 1) : viewedPlaces.count()) - first;
        if (length < 0 || buffer < 0 || buffer >= count || offset < 0
                || length > viewedBytes.get((int) (first + buffer)) - offset) {
            throw malformed(batch, row, "a view of " + length + " bytes from byte " + offset + " of data buffer "
                    + buffer, "bytes within one of its " + count);
        }
        point(batch, viewedPlaces.get((int) (first + buffer)), offset, length, into);
    }

    private void point(int batch, long place, long offset, long bytes, Span into) {
        decoded.locate(fileOf[batch], place, offset, bytes, into);
    }

    /** A dictionary's index, of a row that is not null. Bytes one by one: there are up to 8. */
    private long key(int batch, long inBatch) {
        long key = 0;
        int bytes = (int) leaf.itemBytes();
        for (int i = bytes - 1; i >= 0; i--) {
            key = key << Byte.SIZE | decoded.number(fileOf[batch], data[batch], inBatch * bytes + i, Byte.BYTES) & 0xFF;
        }
        int unused = Long.SIZE - bytes * Byte.SIZE;
        return leaf.index().index().isSigned() ? key << unused >> unused : key;
    }

    private UncheckedIOException malformed(int batch, long row, String found, String expected) {
        return new UncheckedIOException(new MalformedStoreException(fileOf[batch].location(), "row " + row
                + " of column '"
                + leaf.name() + "', row " + (row - index.start(batch)) + " of its batch: " + found, expected));
    }
}
