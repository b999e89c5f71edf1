// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The settings of a {@link DataStatistics}, each with a default. */
public final class DataStatisticsBuilder {

    int every = 64;
    int maxValues = 4096;
    @Nullable DataProfile baseline;
    DriftLimits limits = DriftLimits.DEFAULT;
    final Map<String, FieldKind> kinds = new HashMap<>();
    Consumer<DataFinding> onFinding = finding -> { };

    DataStatisticsBuilder() {
    }

    /**
     * Samples one in this many batches. Default 64.
     *
     * @param batches at least 1
     * @return this
     */
    public DataStatisticsBuilder every(int batches) {
        this.every = atLeastOne("every", batches);
        return this;
    }

    /**
     * Sets the maximum number of values per field in a sampled batch; each row contributes at least one. Default 4096.
     *
     * @param values at least 1
     * @return this
     */
    public DataStatisticsBuilder maxValues(int values) {
        this.maxValues = atLeastOne("values", values);
        return this;
    }

    /**
     * Sets the reference for comparing epochs. Default: the first epoch.
     *
     * @param profile a profile with the same fields
     * @return this
     */
    public DataStatisticsBuilder baseline(DataProfile profile) {
        this.baseline = Objects.requireNonNull(profile, "profile");
        return this;
    }

    /**
     * Sets what counts as a change. Default {@link DriftLimits#DEFAULT}.
     *
     * @param limits the limits
     * @return this
     */
    public DataStatisticsBuilder limits(DriftLimits limits) {
        this.limits = Objects.requireNonNull(limits, "limits");
        return this;
    }

    /**
     * Sets the kind of a field's values. Default: {@link FieldKind#of}.
     *
     * @param field the field's name in the batch
     * @param kind the kind; ids and lengths must be integers
     * @return this
     */
    public DataStatisticsBuilder kind(String field, FieldKind kind) {
        kinds.put(field, kind);
        return this;
    }

    /**
     * Sets a listener, which receives each finding once, on a worker's thread or the thread of a caller of
     * {@link DataStatistics#findings}. Its exceptions are logged. Findings are always logged as warnings too.
     *
     * @param listener the listener
     * @return this
     */
    public DataStatisticsBuilder onFinding(Consumer<DataFinding> listener) {
        this.onFinding = Objects.requireNonNull(listener, "listener");
        return this;
    }

    private static int atLeastOne(String what, int found) {
        if (found < 1) {
            throw new IllegalArgumentException(what + ": " + found + ", expected at least 1");
        }
        return found;
    }

    /** {@return a new collector} */
    public DataStatistics build() {
        return new DataStatistics(this);
    }
}
