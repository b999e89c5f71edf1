// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.FieldSource;
import io.penstock.dataset.source.SampleGenerator;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.KeyedRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A dataset with a generated field behind its own; see {@link Dataset#with(TensorSpec, String, SampleGenerator)}. */
record WithField(Dataset base, List<TensorSpec> fields, String name, FieldSource.Generated added)
        implements OtherFields {

    static WithField of(Dataset base, TensorSpec field, String name, String step, SampleGenerator generator) {
        Objects.requireNonNull(generator, "generator");
        KeyedRandom.step(step);
        if (field.isVariable()) {
            throw new IllegalArgumentException("found " + field + ", expected a field of a fixed shape");
        }
        List<TensorSpec> fields = new ArrayList<>(base.fields());
        if (fields.stream().anyMatch(other -> other.name().equals(field.name()))) {
            throw new IllegalArgumentException("two fields are named '" + field.name() + "'");
        }
        fields.add(field);
        return new WithField(base, List.copyOf(fields), name, new FieldSource.Generated(generator, List.of(field), 0,
                step, sample -> Objects.checkIndex(sample, base.size())));
    }

    private boolean isAdded(int field) {
        return field == fields.size() - 1;
    }

    @Override
    public FieldSource source(int field) {
        return isAdded(field) ? added : base.source(field);
    }

    @Override
    public long maxLength(int field) {
        return isAdded(field) ? OtherFields.super.maxLength(field) : base.maxLength(field);
    }

    @Override
    public String fingerprint() {
        return "with:" + name + "->" + fields.getLast() + ":step=" + added.name() + "|" + base.fingerprint();
    }

    @Override
    public String toString() {
        return base + ", with " + fields.getLast() + " by '" + name + "'";
    }
}
