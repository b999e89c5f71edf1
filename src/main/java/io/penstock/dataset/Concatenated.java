// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.dataset.source.FieldSource;
import io.penstock.internal.PrefixSums;
import io.penstock.memory.TensorSpec;
import java.util.List;
import java.util.stream.Collectors;

/** The samples of one dataset after those of another, and so on. All have the same fields. */
final class Concatenated implements Dataset {

    private final List<Dataset> parts;
    private final PrefixSums starts;
    private final List<TensorSpec> fields;

    Concatenated(List<Dataset> parts) {
        this.parts = parts;
        this.starts = PrefixSums.ofLengths(parts.size(), part -> parts.get(part).size());
        this.fields = parts.getFirst().fields();
        for (Dataset part : parts) {
            if (!part.fields().equals(fields)) {
                throw new IllegalArgumentException("dataset " + parts.indexOf(part) + " has the fields "
                        + part.fields() + ", expected those of dataset 0: " + fields);
            }
        }
    }

    @Override
    public long size() {
        return starts.total();
    }

    @Override
    public List<TensorSpec> fields() {
        return fields;
    }

    @Override
    public FieldSource source(int field) {
        return FieldSource.joined(parts.stream().map(part -> part.source(field)).toList(),
                parts.stream().mapToLong(Dataset::size).toArray());
    }

    @Override
    public String name(long sample) {
        int part = starts.runOf(sample);
        return parts.get(part).name(sample - starts.start(part)) + " of dataset " + part;
    }

    /** Returns the key in the dataset that the sample is of, so that the others may grow. */
    @Override
    public String key(long sample) {
        int part = starts.runOf(sample);
        return parts.get(part).key(sample - starts.start(part));
    }

    @Override
    public long maxLength(int field) {
        return parts.stream().mapToLong(part -> part.maxLength(field)).max().orElseThrow();
    }

    @Override
    public String fingerprint() {
        return parts.stream().map(Dataset::fingerprint).collect(Collectors.joining("][", "concatenated:[", "]"));
    }

    @Override
    public String toString() {
        return parts.size() + " concatenated datasets, " + size() + " samples of " + fields;
    }
}
