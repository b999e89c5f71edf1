// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.FieldSource;
import io.penstock.memory.TensorSpec;
import java.util.ArrayList;
import java.util.List;

/** A dataset with several fields of equal values in the place of one. */
record Duplicated(Dataset base, int field, int copies, List<TensorSpec> fields) implements OtherFields {

    static Duplicated of(Dataset base, String field, String... names) {
        int index = base.indexOf(field);
        List<TensorSpec> fields = new ArrayList<>(base.fields());
        TensorSpec copied = fields.remove(index);
        for (int i = 0; i < names.length; i++) {
            fields.add(index + i, new TensorSpec(names[i], copied.dtype(), copied.shape()));
        }
        if (names.length == 0 || fields.stream().map(TensorSpec::name).distinct().count() < fields.size()) {
            throw new IllegalArgumentException(
                    "'" + field + "' as " + List.of(names) + ": found " + fields + ", expected names that differ");
        }
        return new Duplicated(base, index, names.length, List.copyOf(fields));
    }

    /** Returns the field's position before. */
    private int origin(int copy) {
        return copy < field ? copy : Math.max(field, copy - copies + 1);
    }

    @Override
    public FieldSource source(int copy) {
        return base.source(origin(copy));
    }

    @Override
    public long maxLength(int copy) {
        return base.maxLength(origin(copy));
    }

    @Override
    public String fingerprint() {
        return "duplicated:" + base.fields().get(field).name() + "->"
                + fields.subList(field, field + copies).stream().map(TensorSpec::name).toList() + "|"
                + base.fingerprint();
    }

    @Override
    public String toString() {
        return base + ", '" + base.fields().get(field).name() + "' " + copies + " times";
    }
}
