// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Logs a line of metrics, at intervals or on request, to the {@link System.Logger} {@code io.penstock.metrics} at level
 * INFO. Counters are written as rates since the previous line; seconds per second become a share. Values that are 0 or
 * unknown are left out:
 *
 * <pre>{@code
 *   10.0 s, train: batches=39.4/s samples=1260/s made=83.2MB/s wait=3.1% stage.collate=41.0% … host_slots=5
 * }</pre>
 */
public final class MetricsLog implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger("io.penstock.metrics");
    private static final String LOADER = "loader";

    private final Metrics metrics;
    private final double[] before;
    private long beforeNanos;
    private volatile boolean closed;
    private @Nullable Thread thread;

    private MetricsLog(Metrics metrics) {
        this.metrics = metrics;
        this.before = new double[metrics.all().size()];
        line(System.nanoTime());
    }

    /**
     * Creates a log that writes on request, for example every so many steps.
     *
     * @param metrics the metrics
     * @return the log; {@link #write} writes a line
     */
    public static MetricsLog of(Metrics metrics) {
        return new MetricsLog(metrics);
    }

    /**
     * Starts writing lines at an interval, on its own daemon thread.
     *
     * @param interval time between lines, at least a millisecond
     * @param metrics the metrics
     * @return the log, which the caller closes
     * @throws IllegalArgumentException if the interval is shorter than a millisecond
     */
    public static MetricsLog every(Duration interval, Metrics metrics) {
        if (interval.toMillis() < 1) {
            throw new IllegalArgumentException("interval: found " + interval + ", expected at least 1 ms");
        }
        MetricsLog log = new MetricsLog(metrics);
        log.thread = Thread.ofPlatform().daemon().name("penstock-metrics-log").start(() -> log.run(interval.toNanos()));
        return log;
    }

    private void run(long intervalNanos) {
        long next = System.nanoTime() + intervalNanos;
        while (!closed) {
            long left = next - System.nanoTime();
            if (left > 0) {
                LockSupport.parkNanos(left);
            } else {
                next += intervalNanos;
                writeCarefully();
            }
        }
    }

    private void writeCarefully() {
        try {
            write();
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "cannot read the metrics", e);
        }
    }

    /** Writes a line now. */
    public void write() {
        String line = line(System.nanoTime());
        LOG.log(System.Logger.Level.INFO, () -> line);
    }

    /** The line for the time since the last one. */
    synchronized String line(long now) {
        double seconds = Math.max(1, now - beforeNanos) / (double) TimeUnit.SECONDS.toNanos(1);
        beforeNanos = now;
        StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%.1f s", seconds));
        @Nullable String loader = null;
        for (int i = 0; i < before.length; i++) {
            Metric metric = metrics.all().get(i);
            String of = metric.labels().getOrDefault(LOADER, "");
            if (!of.equals(loader)) {
                line.append(of.isEmpty() ? ":" : ", " + of + ":");
                loader = of;
            }
            double value = metric.value().getAsDouble();
            if (value == 0 && before[i] == 0 || Double.isNaN(value)) {
                continue;
            }
            line.append(' ').append(key(metric)).append('=').append(metric.type() == Metric.Type.COUNTER
                    ? rate((value - before[i]) / seconds, metric.unit()) : gauge(value, metric.unit()));
            before[i] = value;
        }
        return line.toString();
    }

    private static String key(Metric metric) {
        StringJoiner key = new StringJoiner(".");
        key.add(metric.name());
        for (Map.Entry<String, String> label : metric.labels().entrySet()) {
            if (!label.getKey().equals(LOADER)) {
                key.add(label.getValue());
            }
        }
        return key.toString();
    }

    private static String rate(double perSecond, Metric.Unit unit) {
        return unit == Metric.Unit.SECONDS ? String.format(Locale.ROOT, "%.1f%%", 100 * perSecond)
                : gauge(perSecond, unit) + "/s";
    }

    private static String gauge(double value, Metric.Unit unit) {
        return switch (unit) {
            case NONE -> value == Math.rint(value) || value >= 1000 ? String.format(Locale.ROOT, "%.0f", value)
                    : String.format(Locale.ROOT, "%.3g", value);
            case BYTES -> String.format(Locale.ROOT, "%.1fMB", value / 1e6);
            case SECONDS -> String.format(Locale.ROOT, "%.3gs", value);
            case RATIO -> String.format(Locale.ROOT, "%.1f%%", 100 * value);
        };
    }

    /** Stops writing at intervals, after a last line. Repeating it has no effect. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (thread != null) {
            LockSupport.unpark(thread);
            writeCarefully();
        }
    }
}
