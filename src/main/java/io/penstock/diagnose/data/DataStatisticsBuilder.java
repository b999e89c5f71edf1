package io.penstock.diagnose.data;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/** The settings of a {@link DataStatistics}, each with a default. */
public final class DataStatisticsBuilder {

    int every = 64;
    int maxValues = 4096;
    DataProfile baseline;
    DriftLimits limits = DriftLimits.DEFAULT;
    final Map<String, FieldKind> kinds = new HashMap<>();
    Consumer<DataFinding> onFinding = finding -> { };

    DataStatisticsBuilder() {
    }

    /**
     * Of how many batches one is looked at. Default 64.
     *
     * @param batches at least 1
     * @return this
     */
    public DataStatisticsBuilder every(int batches) {
        this.every = atLeastOne("every", batches);
        return this;
    }

    /**
     * The most values of a field that are read in such a batch, but at least one of each row. Default 4096.
     *
     * @param values at least 1
     * @return this
     */
    public DataStatisticsBuilder maxValues(int values) {
        this.maxValues = atLeastOne("values", values);
        return this;
    }

    /**
     * What epochs are compared with. Default: the first epoch.
     *
     * @param profile of batches of the same fields
     * @return this
     */
    public DataStatisticsBuilder baseline(DataProfile profile) {
        this.baseline = Objects.requireNonNull(profile, "profile");
        return this;
    }

    /**
     * What counts as a change. Default {@link DriftLimits#DEFAULT}.
     *
     * @param limits the limits
     * @return this
     */
    public DataStatisticsBuilder limits(DriftLimits limits) {
        this.limits = Objects.requireNonNull(limits, "limits");
        return this;
    }

    /**
     * What a field's values are. Default: {@link FieldKind#of}.
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
     * Told of each finding when it is first made, on a worker's thread or on that of a caller of
     * {@link DataStatistics#findings}. What it throws is logged. Findings are logged as warnings in any case.
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

    /**
     * A watch that has seen nothing yet.
     *
     * @return the collector
     */
    public DataStatistics build() {
        return new DataStatistics(this);
    }
}
