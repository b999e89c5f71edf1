// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.FieldSource;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TensorStore;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The rows of tensors as samples: for each tensor, sample {@code i} has a field with row {@code i}. All tensors have
 * the same number of rows.
 *
 * {@snippet :
 * Dataset images = TensorRows.of("image", imageStore).and("label", labelStore);   // u8[3,224,224], i64[]
 * }
 */
public final class TensorRows implements Dataset {

    private record Column(TensorStore store, int tensor) { }

    private final List<Column> columns;
    private final List<TensorSpec> fields;
    private final long size;

    private TensorRows(List<Column> columns, List<TensorSpec> fields, long size) {
        this.columns = columns;
        this.fields = fields;
        this.size = size;
    }

    /**
     * Creates samples of the rows of a store's only tensor.
     *
     * @param name the field's name
     * @param store the tensor; must stay open
     * @return the dataset
     * @throws IllegalArgumentException if the store has several tensors, or its tensor is a scalar
     */
    public static TensorRows of(String name, TensorStore store) {
        return new TensorRows(List.of(), List.of(), -1).and(name, store);
    }

    /**
     * Creates samples of the rows of one tensor of a store.
     *
     * @param name the field's name
     * @param store the tensors; must stay open
     * @param tensor the tensor's position in the store
     * @return the dataset
     * @throws IllegalArgumentException if the tensor is a scalar
     */
    public static TensorRows of(String name, TensorStore store, int tensor) {
        return new TensorRows(List.of(), List.of(), -1).and(name, store, tensor);
    }

    /**
     * Creates samples of the rows of all tensors of a store, under their own names.
     *
     * @param store the tensors; must stay open
     * @return the dataset
     * @throws IllegalArgumentException if there is no tensor, the numbers of rows differ, or one is a scalar
     */
    public static TensorRows of(TensorStore store) {
        if (store.tensors().isEmpty()) {
            throw new IllegalArgumentException("the store has no tensors, expected 1 or more");
        }
        var rows = new TensorRows(List.of(), List.of(), -1);
        for (int t = 0; t < store.tensors().size(); t++) {
            rows = rows.and(store.tensors().get(t).name(), store, t);
        }
        return rows;
    }

    /**
     * Adds the rows of another store's only tensor.
     *
     * @param name the new field's name
     * @param store the tensor; must stay open
     * @return a dataset with one more field
     * @throws IllegalArgumentException if the number of rows differs, or the name is taken
     */
    public TensorRows and(String name, TensorStore store) {
        if (store.tensors().size() != 1) {
            throw new IllegalArgumentException(name + ": the store has " + store.tensors().size()
                    + " tensors, name the one by its index");
        }
        return and(name, store, 0);
    }

    /**
     * Adds the rows of one tensor of another store.
     *
     * @param name the new field's name
     * @param store the tensors; must stay open
     * @param tensor the tensor's position in the store
     * @return a dataset with one more field
     * @throws IllegalArgumentException if the number of rows differs, the name is taken, or the tensor is a scalar
     */
    public TensorRows and(String name, TensorStore store, int tensor) {
        TensorSpec spec = store.tensors().get(tensor);
        if (spec.rank() == 0) {
            throw new IllegalArgumentException(name + ": a scalar has no rows");
        }
        if (size >= 0 && spec.dim(0) != size) {
            throw new IllegalArgumentException(name + ": " + spec.dim(0) + " rows, expected "
                    + size + ", as the other tensors have (choose tensors of one length)");
        }
        if (fields.stream().anyMatch(field -> field.name().equals(name))) {
            throw new IllegalArgumentException("two fields are named '" + name + "'");
        }
        long[] rowShape = Arrays.copyOfRange(spec.shape(), 1, spec.rank());
        return new TensorRows(Stream.concat(columns.stream(), Stream.of(new Column(store, tensor))).toList(),
                Stream.concat(fields.stream(), Stream.of(new TensorSpec(name, spec.dtype(), rowShape))).toList(),
                spec.dim(0));
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public List<TensorSpec> fields() {
        return fields;
    }

    @Override
    public FieldSource.Stored source(int field) {
        Column column = columns.get(field);
        return new FieldSource.Stored((sample, into) -> column.store().locate(column.tensor(), sample, 1, into),
                column.store().rows(column.tensor()));
    }

    @Override
    public String fingerprint() {
        var text = new StringBuilder("rows:");
        for (int f = 0; f < columns.size(); f++) {
            text.append(fields.get(f).name()).append('=').append(columns.get(f).tensor()).append('@')
                    .append(columns.get(f).store().fingerprint()).append('|');
        }
        return text.toString();
    }

    @Override
    public String toString() {
        return size() + " rows of " + fields;
    }
}
