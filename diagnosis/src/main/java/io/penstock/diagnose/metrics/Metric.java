// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.DoubleSupplier;

/**
 * A number that any thread may read at any time.
 *
 * @param name its name without prefix and unit: {@code batches}, {@code wait}
 * @param type counter or gauge
 * @param unit its unit
 * @param help one sentence
 * @param labels distinguish metrics of the same name, for example by stage; few, and fixed
 * @param value reads it
 */
public record Metric(String name, Type type, Unit unit, String help, Map<String, String> labels, DoubleSupplier value) {

    /** Whether a metric is monotonic. */
    public enum Type {
        /** A total since the source was opened. */
        COUNTER,
        /** A number that may rise and fall. */
        GAUGE
    }

    /** A metric's unit; only base units, so that no reader converts. */
    public enum Unit {
        /** A count of what the name says. */
        NONE,
        /** A size in bytes, not in KiB or MB. */
        BYTES,
        /** A time in seconds, with fractions. */
        SECONDS,
        /** A share, 0 to 1. */
        RATIO;

        /** The unit in names: {@code seconds}. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final String NAME = "[a-z][a-z0-9]*(_[a-z0-9]+)*";

    /**
     * Checks the names and copies the labels.
     *
     * @throws IllegalArgumentException if the name or a label's name is not lower-case words joined by underscores
     */
    public Metric {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(unit, "unit");
        Objects.requireNonNull(help, "help");
        Objects.requireNonNull(value, "value");
        labels = Collections.unmodifiableMap(new TreeMap<>(labels));
        checkName(name);
        labels.keySet().forEach(Metric::checkName);
    }

    private static void checkName(String name) {
        if (!name.matches(NAME)) {
            throw new IllegalArgumentException("metric '" + name + "', expected lowercase words joined by underscores");
        }
    }

    /**
     * {@return the Prometheus name: prefix, name, base unit, and {@code total} for counters, as in {@code
     * penstock_wait_seconds_total}}
     */
    public String prometheusName() {
        return "penstock_" + name + (unit == Unit.NONE ? "" : "_" + unit) + (type == Type.COUNTER ? "_total" : "");
    }

    /** A copy with one more label. */
    Metric labeled(String key, String text) {
        Map<String, String> more = new TreeMap<>(labels);
        more.put(key, text);
        return new Metric(name, type, unit, help, more, value);
    }
}
