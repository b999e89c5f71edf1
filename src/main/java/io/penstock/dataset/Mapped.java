// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleMap;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A dataset with one field mapped by user code. */
record Mapped(Dataset base, int field, List<TensorSpec> fields, String name, String step, FieldSource.Mapped source)
        implements OtherFields {

    /** Maps a field; {@link Dataset#map(String, TensorSpec, String, String, SampleMap)} says how. */
    static Mapped of(Dataset base, String field, @Nullable String beside, TensorSpec out, String name, String step,
            SampleMap map) {
        int index = base.indexOf(field);
        TensorSpec in = base.fields().get(index);
        List<TensorSpec> fields = new ArrayList<>(base.fields());
        fields.remove(index);
        if (fields.stream().anyMatch(other -> other.name().equals(out.name()))) {
            throw new IllegalArgumentException("two fields are named '" + out.name() + "'");
        }
        fields.add(index, out);
        if (out.isVariable() && !in.isVariable()) {
            throw new IllegalArgumentException(out + " of " + in + ": found one length, expected varying ones");
        }
        Objects.requireNonNull(map, "map");
        long number = KeyedRandom.step(step);
        FieldSource input = base.source(index);
        if (input.draws(number)) {
            throw new IllegalArgumentException("'" + field + "' is made by another step '" + step
                    + "', expected another name: both would draw the same random numbers");
        }
        int other = beside == null ? -1 : base.indexOf(beside);
        return new Mapped(base, index, List.copyOf(fields), Objects.requireNonNull(name, "name"), step,
                new FieldSource.Mapped(input, in, map, number, other < 0 ? null
                        : new FieldSource.Mapped.Beside(base.source(other), base.fields().get(other))));
    }

    @Override
    public FieldSource source(int field) {
        return field == this.field ? source : base.source(field);
    }

    @Override
    public long maxLength(int field) {
        return field != this.field || fields.get(field).isVariable() ? base.maxLength(field)
                : OtherFields.super.maxLength(field);
    }

    @Override
    public String fingerprint() {
        FieldSource.Mapped.Beside beside = source.beside();
        return "mapped:" + name + ":" + base.fields().get(field).name()
                + (beside == null ? "" : " beside " + beside.field()) + "->" + fields.get(field) + ":step=" + step
                + "|" + base.fingerprint();
    }

    @Override
    public String toString() {
        return base + ", '" + base.fields().get(field).name() + "' mapped by '" + name + "'";
    }
}
