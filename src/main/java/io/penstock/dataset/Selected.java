// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.FieldSource;
import io.penstock.memory.TensorSpec;
import java.util.List;
import java.util.Objects;

/** Samples of a dataset by index, in any order and possibly repeated. */
final class Selected implements Dataset {

    private final Dataset base;
    private final long[] samples;

    Selected(Dataset base, long[] samples) {
        this.base = base;
        this.samples = samples.clone();
        for (long sample : samples) {
            Objects.checkIndex(sample, base.size());
        }
    }

    private long origin(long sample) {
        return samples[(int) Objects.checkIndex(sample, (long) samples.length)];
    }

    @Override
    public long size() {
        return samples.length;
    }

    @Override
    public List<TensorSpec> fields() {
        return base.fields();
    }

    @Override
    public FieldSource source(int field) {
        return base.source(field).reindexed(this::origin);
    }

    @Override
    public String name(long sample) {
        return base.name(origin(sample));
    }

    @Override
    public String key(long sample) {
        return base.key(origin(sample));
    }

    @Override
    public long maxLength(int field) {
        return base.fields().get(field).isVariable() ? Lengths.longest(this, field, base) : base.maxLength(field);
    }

    @Override
    public String fingerprint() {
        return "selected:samples=" + samples.length + ":" + FilterFile.digest(samples) + "|" + base.fingerprint();
    }

    @Override
    public String toString() {
        return samples.length + " of " + base.size() + " samples of " + base;
    }
}
