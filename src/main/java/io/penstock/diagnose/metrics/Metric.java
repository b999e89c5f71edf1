package io.penstock.diagnose.metrics;

import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.DoubleSupplier;

/**
 * One number that may be read at any time, by any thread.
 *
 * @param name what it is, without prefix and unit: {@code batches}, {@code wait}
 * @param kind whether it only grows
 * @param unit what it counts
 * @param help one sentence
 * @param labels what tells it from others of the same name, such as the stage; few, and fixed
 * @param value reads it
 */
public record Metric(String name, Kind kind, Unit unit, String help, Map<String, String> labels,
        DoubleSupplier value) {

    /** Whether a number only grows. */
    public enum Kind {
        /** A total since the source was opened. */
        COUNTER,
        /** A number that may go up and down. */
        GAUGE
    }

    /** What a number counts; base units alone, so that no reader converts. */
    public enum Unit {
        /** Things, which the name says. */
        NONE,
        /** Bytes. */
        BYTES,
        /** Seconds. */
        SECONDS,
        /** A share, 0 to 1. */
        RATIO;

        /** For names: {@code seconds}. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final String NAME = "[a-z][a-z0-9]*(_[a-z0-9]+)*";

    /**
     * Checks and copies.
     *
     * @throws IllegalArgumentException if the name or a label's is not of lower-case words joined by underscores
     */
    public Metric {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(unit, "unit");
        Objects.requireNonNull(help, "help");
        Objects.requireNonNull(value, "value");
        labels = Collections.unmodifiableMap(new TreeMap<>(labels));
        checkName(name);
        labels.keySet().forEach(Metric::checkName);
    }

    private static void checkName(String name) {
        if (!name.matches(NAME)) {
            throw new IllegalArgumentException("metric '" + name
                    + "', expected lowercase words joined by underscores");
        }
    }

    /**
     * The name as Prometheus wants it.
     *
     * @return prefix, name, base unit, and {@code total} for what only grows: {@code penstock_wait_seconds_total}
     */
    public String prometheusName() {
        return "penstock_" + name + (unit == Unit.NONE ? "" : "_" + unit) + (kind == Kind.COUNTER ? "_total" : "");
    }

    /**
     * Whether its values are whole numbers.
     *
     * @return true for counts and bytes
     */
    public boolean isWhole() {
        return unit == Unit.NONE || unit == Unit.BYTES;
    }

    /** The same with one more label. */
    Metric labelled(String key, String text) {
        Map<String, String> more = new TreeMap<>(labels);
        more.put(key, text);
        return new Metric(name, kind, unit, help, more, value);
    }
}
