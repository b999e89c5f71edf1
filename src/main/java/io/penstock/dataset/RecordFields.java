// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.FieldSource;
import io.penstock.decode.Decoder;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The records of a store as samples: each chosen column is a field, raw or through a {@link Decoder}.
 *
 * {@snippet :
 * Dataset samples = RecordFields.of(shards)                       // a WebDataset
 *         .and("jpg", ImageDecoder.rgb(224, 224))                 // u8[224,224,3]
 *         .and("cls", Decoder.decimal(DType.I64));                           // i64[]
 * }
 *
 * <p>Reading a record that lacks a value fails and names the record; {@link #complete} drops such records.
 */
public final class RecordFields implements Dataset {

    /** Of several columns, {@code column} is the first. */
    private record Field(int column, int[] columns, @Nullable Decoder decoder, TensorSpec spec) { }

    private static final int[] NO_OTHERS = {};

    private final RecordStore store;
    private final List<Field> chosen;
    private final List<TensorSpec> fields;
    /** The records that are samples; null if all are. */
    private final @Nullable Selection selection;
    private final MaxLengths maxLengths = new MaxLengths();
    private volatile @Nullable String fingerprint;

    private RecordFields(RecordStore store, List<Field> chosen, @Nullable Selection selection) {
        this.store = store;
        this.chosen = List.copyOf(chosen);
        this.fields = chosen.stream().map(Field::spec).toList();
        this.selection = selection;
    }

    /**
     * Creates samples without fields; {@link #and} adds them.
     *
     * @param store the records; must stay open
     * @return the dataset, which needs at least one field before it is read
     */
    public static RecordFields of(RecordStore store) {
        return new RecordFields(store, List.of(), null);
    }

    /**
     * Adds a raw column.
     *
     * @param column the column's name
     * @return a dataset of the same records with one more field, of the same name
     * @throws IllegalArgumentException if the column does not exist, cannot be read, or is a field already
     */
    public RecordFields and(String column) {
        return and(column, null);
    }

    /**
     * Adds a column through a decoder.
     *
     * @param column the column's name
     * @param decoder decodes the stored bytes; null for the raw bytes
     * @return a dataset of the same records with one more field, of the same name
     * @throws IllegalArgumentException if the column does not exist, cannot be read, is a field already, or the decoder
     *     does not accept it
     */
    public RecordFields and(String column, @Nullable Decoder decoder) {
        int index = columnOf(column);
        if (chosen.stream().anyMatch(field -> field.columns.length == 0 && field.column == index)) {
            throw new IllegalArgumentException("two fields are named '" + column + "'");
        }
        Column stored = store.columns().get(index);
        List<Field> more = new ArrayList<>(chosen);
        more.add(new Field(index, NO_OTHERS, decoder, decoder == null ? stored.spec() : decoder.field(stored)));
        return new RecordFields(store, more, selection);
    }

    /**
     * Adds one field that a decoder makes of several columns together, such as the question and the answers of a
     * record. The decoder gets, for each column, two little-endian {@code i32}: where its value begins and its length
     * in bytes, -1 if the record lacks it; then the values. {@link #complete} keeps records that lack some of them.
     *
     * @param columns the columns' names, at least one
     * @param decoder makes the decoder of these columns; its {@link Decoder#field} is asked with the first one
     * @return a dataset of the same records with one more field, named by the decoder
     * @throws IllegalArgumentException if a column does not exist or cannot be read, or the decoder does not accept
     *     them
     */
    public RecordFields and(List<String> columns, Function<? super List<Column>, ? extends Decoder> decoder) {
        int[] indices = columns.stream().mapToInt(this::columnOf).toArray();
        List<Column> stored = Arrays.stream(indices).mapToObj(store.columns()::get).toList();
        Decoder made = decoder.apply(stored);
        List<Field> more = new ArrayList<>(chosen);
        more.add(new Field(indices[0], indices, made, made.field(stored.getFirst())));
        return new RecordFields(store, more, selection);
    }

    /**
     * Drops records that lack a value. Takes a pass over the store's records that reads only whether values are
     * present; keeps one bit per record.
     *
     * @return the dataset; this one if every record is complete
     */
    public RecordFields complete() {
        Selection found = Selection.of(store.size(),
                record -> chosen.stream().allMatch(field -> field.columns.length > 0
                        || store.isPresent(record, field.column)));
        return found.size() == store.size() ? this : new RecordFields(store, chosen, found);
    }

    private int columnOf(String column) {
        List<String> names = store.columns().stream().map(Column::name).toList();
        int index = names.indexOf(column);
        if (index < 0) {
            String reason = store.unreadColumns().get(column);
            throw new IllegalArgumentException(reason == null ? "no column '" + column + "', the store has " + names
                    : "column '" + column + "' cannot be read: " + reason);
        }
        return index;
    }

    /** {@return whether no column was chosen yet, so that the dataset cannot be read} */
    public boolean isEmpty() {
        return chosen.isEmpty();
    }

    /**
     * {@return the store's index of a sample's record, equal to the sample's unless {@link #complete} dropped records}
     *
     * @param sample the sample's index
     * @throws IndexOutOfBoundsException if the sample does not exist
     */
    public long record(long sample) {
        return selection == null ? Objects.checkIndex(sample, store.size()) : selection.get(sample);
    }

    @Override
    public long size() {
        return selection == null ? store.size() : selection.size();
    }

    @Override
    public List<TensorSpec> fields() {
        if (fields.isEmpty()) {
            throw new IllegalStateException("no column was chosen of those the store has");
        }
        return fields;
    }

    @Override
    public FieldSource source(int field) {
        Field of = chosen.get(field);
        int[] columns = of.columns;
        if (columns.length > 0 && of.decoder != null) {
            return new FieldSource.Gathered(columns.length,
                    (sample, part) -> store.isPresent(record(sample), columns[part]),
                    (sample, part, into) -> store.locate(record(sample), columns[part], into), of.decoder);
        }
        FieldSource.Place place = selection == null ? new AllRecords(store, of.column)
                : (sample, into) -> store.locate(record(sample), of.column, into);
        return of.decoder == null ? FieldSource.stored(place) : new FieldSource.Decoded(place, of.decoder);
    }

    /** A column of all records, which the store may copy by itself. */
    private record AllRecords(RecordStore store, int column) implements FieldSource.Place {

        @Override
        public void locate(long sample, Span into) {
            store.locate(sample, column, into);
        }

        @Override
        public boolean gather(long[] samples, int count, long valueBytes, MemorySegment target, long targetOffset,
                long[] scratch) {
            return store.gather(samples, count, column, valueBytes, target, targetOffset, scratch);
        }
    }

    @Override
    public String name(long sample) {
        return store.name(record(sample));
    }

    @Override
    public String key(long sample) {
        return store.key(record(sample));
    }

    /**
     * {@inheritDoc}
     *
     * <p>If the store does not know it, the first call makes a pass over all samples: over their locations for a raw
     * field, over their content for a decoded one. It skips samples with a missing or malformed value; reading one
     * fails later.
     *
     * @throws UncheckedIOException if a file cannot be read or has shrunk; names it
     */
    @Override
    public long maxLength(int field) {
        return fields().get(field).isVariable() ? maxLengths.of(field, () -> findMaxLength(field))
                : Dataset.super.maxLength(field);
    }

    private long findMaxLength(int field) {
        boolean stored = chosen.get(field).decoder == null;
        long known = stored ? store.maxLength(chosen.get(field).column) : -1;
        return known >= 0 ? known : Lengths.longest(this, field);
    }

    @Override
    public String fingerprint() {
        String known = fingerprint;
        if (known == null) {
            known = "records:samples=" + size() + (selection == null ? "" : ":complete") + chosen.stream()
                    .map(field -> "," + field.spec + (field.decoder == null ? "" : ":" + field.decoder)
                            + Arrays.stream(field.columns).mapToObj(column -> "|" + store.columns().get(column).name())
                                    .collect(Collectors.joining()))
                    .collect(Collectors.joining()) + " of " + store.fingerprint();
            fingerprint = known;
        }
        return known;
    }

    @Override
    public String toString() {
        return size() + " records of " + fields;
    }
}
