// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.arrow;

import static io.penstock.format.arrow.DecodedBuffers.ABSENT;

import io.penstock.error.MalformedStoreException;
import io.penstock.error.PenstockException;
import io.penstock.format.MissingValue;
import io.penstock.format.arrow.ArrowFlat.Layout;
import io.penstock.format.arrow.ArrowFlat.Level;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.store.Column;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A column of numbers, lists of numbers, bytes or text, read in place.
 *
 * <p>Sizes that follow from the number of rows are checked when a batch is added; offsets are checked when they are
 * read, two per value, so that opening costs nothing per row.
 */
final class ArrowValues implements ArrowColumn {

    private final ArrowShape shape;
    private final ArrowFlat flat;
    /** The type of its offsets, indices or values. */
    private final ArrowType type;
    private final int offsetBytes;
    /** Whether lists have sizes; otherwise each ends where the next one starts. */
    private final boolean isSized;
    private final DecodedBuffers decoded;
    /** The type that numbers are given in. */
    private final DType dtype;
    private final List<MappedFile> files = new ArrayList<>();
    private final Longs dataPlaces = new Longs();
    private final Longs offsetPlaces = new Longs();
    private final Longs sizePlaces = new Longs();
    /** The data buffers of views, and each batch's first one. */
    private final Longs viewedPlaces = new Longs();
    private final Longs viewedBytes = new Longs();
    private final Longs firstViewed = new Longs();
    /** For each batch the number of items, which bounds the offsets. */
    private final Longs items = new Longs();
    /** For each level the places of the bitmaps; null while no value was null. */
    private final @Nullable Longs[] validity;
    /** The values of a dictionary-encoded column, otherwise null. */
    private final @Nullable ArrowDictionary<ArrowColumn> dictionary;
    /** For each batch the version of its dictionary. */
    private final Longs dictionaryVersions = new Longs();
    private @Nullable String refusal;
    private boolean isConverted;

    private MappedFile[] fileOf;
    private long[] data;
    private long[] offsets;
    private long[] sizes;
    private long[] itemCounts;
    private long[] @Nullable [] bitmaps;
    private RowIndex index;

    @SuppressWarnings("NullAway.Init") // what freeze sets
    ArrowValues(ArrowShape shape, ArrowFlat flat, DecodedBuffers decoded, DType dtype) {
        this.shape = shape;
        this.flat = flat;
        this.decoded = decoded;
        this.type = shape.root().type();
        this.offsetBytes = type.offsetBytes();
        this.isSized = type.isListView();
        this.validity = new Longs[flat.levels().size()];
        ArrowShape values = shape.root().values();
        this.dtype = dtype;
        this.dictionary = values == null ? null : new ArrowDictionary<>(values.open(decoded, dtype));
    }

    @Override
    public ArrowShape shape() {
        return shape;
    }

    @Override
    public List<ArrowDictionary<?>> dictionaries() {
        return dictionary == null ? List.of() : List.of(dictionary);
    }

    @Override
    public @Nullable String refusal() {
        return refusal != null || dictionary == null ? refusal : dictionary.values().refusal();
    }

    @Override
    public boolean isConverted() {
        return isConverted || dictionary != null && dictionary.values().isConverted();
    }

    @Override
    public void add(ArrowBatch batch) {
        ArrowArrays arrays = new ArrowArrays(shape, batch, decoded, dictionaries(), dtype);
        ArrowNode root = shape.root();
        for (int l = 0; l < validity.length; l++) {
            long place = arrays.place(flat.levels().get(l).node(), 0);
            Longs places = validity[l];
            if (places == null && place != ABSENT) {
                places = new Longs();
                validity[l] = places;
            }
            if (places != null) {
                places.fill(files.size(), ABSENT);
                places.add(place);
            }
        }
        files.add(batch.file());
        switch (flat.layout()) {
            case NONE -> { }
            case FIXED, DICTIONARY -> dataPlaces.add(converted(arrays.place(flat.levels().getLast().node(), 1)));
            case VARIABLE -> {
                offsetPlaces.add(arrays.place(root, 1));
                if (isSized) {
                    sizePlaces.add(arrays.place(root, 2));
                }
                if (flat.column().kind() == Column.Kind.NUMBERS) {
                    addItems(arrays);
                } else {
                    items.add(arrays.byteSize(root, 2));
                    dataPlaces.add(converted(arrays.place(root, 2)));
                }
            }
            case VIEW -> {
                offsetPlaces.add(converted(arrays.place(root, 1)));
                firstViewed.add(viewedPlaces.count());
                for (int i = 2; i < arrays.buffers(root); i++) {
                    viewedPlaces.add(converted(arrays.place(root, i)));
                    viewedBytes.add(arrays.byteSize(root, i));
                }
            }
        }
        if (dictionary != null) {
            dictionaryVersions.add(dictionary.version());
        }
    }

    private void addItems(ArrowArrays arrays) {
        long count = arrays.length(shape.root().children().getFirst());
        for (Level level : flat.levels()) {
            long length = arrays.length(level.node());
            if (level.isRegular() && (length % level.perRow() != 0 || length / level.perRow() != count)) {
                refusal = "lists whose lengths differ from its shape";
            }
        }
        items.add(count);
        dataPlaces.add(converted(arrays.place(flat.levels().getLast().node(), 1)));
    }

    private long converted(long place) {
        isConverted |= place < ABSENT;
        return place;
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
            Longs places = validity[l];
            if (places != null) {
                places.fill(fileOf.length, ABSENT);
                bitmaps[l] = places.toArray();
            }
        }
        if (dictionary != null) {
            dictionary.values().freeze(dictionary.index());
        }
    }

    @Override
    public boolean isPresent(long row) {
        if (flat.layout() == Layout.NONE) {
            return false;
        }
        int batch = index.batch(row);
        try {
            long inBatch = row - index.start(batch);
            if (isNull(batch, inBatch) || hasNullWithin(batch, inBatch, row)) {
                return false;
            }
            if (dictionary == null) {
                return true;
            }
            long value = dictionary.row(key(batch, inBatch), version(batch));
            return value < 0 || dictionary.values().isPresent(value);
        } catch (UncheckedIOException | PenstockException _) {
            return true;
        }
    }

    private boolean isNull(int batch, long row) {
        for (int l = 0; l < bitmaps.length; l++) {
            if (flat.levels().get(l).isOfRow() && !areSet(batch, l, row, 1)) {
                return true;
            }
        }
        return false;
    }

    /** Tells whether a list contains a null, which a tensor cannot hold. */
    private boolean hasNullWithin(int batch, long inBatch, long row) {
        for (int l = 0; l < bitmaps.length; l++) {
            Level level = flat.levels().get(l);
            if (level.isOfRow() || bitmap(batch, l) == ABSENT) {
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

    private long bitmap(int batch, int level) {
        long @Nullable [] places = bitmaps[level];
        return places == null ? ABSENT : places[batch];
    }

    private boolean areSet(int batch, int level, long first, long count) {
        long place = bitmap(batch, level);
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
        if (flat.layout() == Layout.NONE || isNull(batch, inBatch)) {
            throw malformed(batch, row, "no value: it is null", MissingValue.EXPECTED);
        }
        if (hasNullWithin(batch, inBatch, row)) {
            throw malformed(batch, row, "a list of which an item is null", "numbers");
        }
        switch (flat.layout()) {
            case FIXED -> point(batch, data[batch], inBatch * flat.itemBytes(), flat.itemBytes(), into);
            case VARIABLE -> {
                long first = first(batch, inBatch);
                long count = end(batch, inBatch, row) - first;
                if (flat.itemCount() >= 0 && count != flat.itemCount()) {
                    throw malformed(batch, row, count + " items", flat.itemCount() + ", as its shape says");
                }
                point(batch, data[batch], first * flat.itemBytes(), count * flat.itemBytes(), into);
            }
            case VIEW -> locateView(batch, inBatch, row, into);
            case DICTIONARY -> {
                ArrowDictionary<ArrowColumn> values = Objects.requireNonNull(dictionary);
                long value = values.row(key(batch, inBatch), version(batch));
                if (value < 0) {
                    throw malformed(batch, row, "index " + key(batch, inBatch), "that of a value in its dictionary");
                }
                values.values().locate(value, into);
            }
            case NONE -> throw new AssertionError();
        }
    }

    /** Returns the first item of a row. */
    private long first(int batch, long inBatch) {
        return number(batch, offsets[batch], inBatch, offsetBytes);
    }

    /** Returns the end of a row's items, checked. */
    private long end(int batch, long inBatch, long row) {
        long from = first(batch, inBatch);
        long size = isSized ? number(batch, sizes[batch], inBatch, offsetBytes) : 0;
        long to = isSized ? from + Math.min(size, Long.MAX_VALUE - Math.max(from, 0))
                : number(batch, offsets[batch], inBatch + 1, offsetBytes);
        if (from < 0 || to < from || to > itemCounts[batch]) {
            throw malformed(batch, row, "offsets " + from + " to " + to, "rising ones within 0 to "
                    + itemCounts[batch]);
        }
        return to;
    }

    private long number(int batch, long place, long index, int width) {
        return decoded.number(fileOf[batch], place, index * width, width);
    }

    /**
     * Reads a length; then the value if it is short, otherwise its first 4 bytes, a data buffer and an offset in it.
     */
    private void locateView(int batch, long inBatch, long row, Span into) {
        long place = offsets[batch];
        long view = inBatch * (ArrowType.VIEW_BYTES / Integer.BYTES);
        long length = number(batch, place, view, Integer.BYTES);
        if (length >= 0 && length <= ArrowType.INLINE_BYTES) {
            point(batch, place, inBatch * ArrowType.VIEW_BYTES + Integer.BYTES, length, into);
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

    /** Returns the index of a row that is not null. */
    private long key(int batch, long inBatch) {
        long key = 0;
        int bytes = (int) flat.itemBytes();
        for (int i = bytes - 1; i >= 0; i--) {
            key = key << Byte.SIZE | decoded.number(fileOf[batch], data[batch], inBatch * bytes + i, Byte.BYTES) & 0xFF;
        }
        int unused = Long.SIZE - bytes * Byte.SIZE;
        return type.isSigned() ? key << unused >> unused : key;
    }

    private int version(int batch) {
        return (int) dictionaryVersions.get(batch);
    }

    private MalformedStoreException malformed(int batch, long row, String found, String expected) {
        return new MalformedStoreException(fileOf[batch].location(), "row "
                + index.inStore(row)
                + " of column '" + shape.name() + "', row " + (row - index.start(batch)) + " of its batch: " + found,
                expected);
    }
}
