// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.alert;

import io.penstock.loader.DataLoader;
import io.penstock.telemetry.LoaderReport;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Watches a loader and calls back when a rule fires or clears.
 *
 * {@snippet :
 * try (var monitor = AlertMonitor.open(loader, List.of(AlertRule.waitAbove(0.2, 100)), alert -> page(alert))) {
 *     // … train …
 * }
 * }
 *
 * <p>The callback runs on the monitor's own daemon thread, so it cannot slow down training; its exceptions are logged.
 * Every alert is logged too: firing as a warning, clearing as information.
 *
 * <p>The monitor reads the loader's running totals four times a second. So a period begins and ends up to a quarter of
 * a second late, and has the rule's steps or a few more. It also ends after a minute, so that a stalled run is noticed.
 * The wait for the first batch is not judged, and a pause of the trainer's own, such as a validation, counts as time
 * without waiting.
 */
public final class AlertMonitor implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(AlertMonitor.class.getName());
    private static final long LOOK_NANOS = Duration.ofMillis(250).toNanos();
    private static final long LONGEST_NANOS = Duration.ofMinutes(1).toNanos();

    private final Supplier<AlertState.Progress> source;
    private final List<AlertState> states;
    private final Consumer<Alert> callback;
    private final long lookNanos;
    private final Thread thread;
    private volatile boolean closed;

    AlertMonitor(Supplier<AlertState.Progress> source, List<AlertRule> rules, Consumer<Alert> callback, long lookNanos,
            long longestNanos) {
        this.source = source;
        this.states = rules.stream().map(rule -> new AlertState(rule, longestNanos)).toList();
        this.callback = Objects.requireNonNull(callback, "callback");
        this.lookNanos = lookNanos;
        this.thread = Thread.ofPlatform().daemon().name("penstock-alerts").start(this::run);
    }

    /**
     * Starts watching.
     *
     * @param loader the loader; may be closed before the monitor
     * @param rules the rules
     * @param callback receives alerts, on the monitor's thread
     * @return the monitor, which the caller closes
     */
    public static AlertMonitor open(DataLoader loader, List<AlertRule> rules, Consumer<Alert> callback) {
        return new AlertMonitor(() -> progress(loader.report()), rules, callback, LOOK_NANOS, LONGEST_NANOS);
    }

    private static AlertState.Progress progress(LoaderReport report) {
        return new AlertState.Progress(System.nanoTime(), report.batches(), report.samples(),
                report.consumerWaitNanos());
    }

    private void run() {
        while (!closed) {
            look();
            LockSupport.parkNanos(this, lookNanos);
        }
    }

    private void look() {
        try {
            AlertState.Progress now = source.get();
            for (AlertState state : states) {
                Alert alert = state.accept(now);
                if (alert != null) {
                    tell(alert);
                }
            }
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "cannot read the loader's figures", e);
        }
    }

    private void tell(Alert alert) {
        LOG.log(alert.state() == Alert.State.FIRED ? System.Logger.Level.WARNING : System.Logger.Level.INFO,
                alert::toString);
        try {
            callback.accept(alert);
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "an alert's callback failed", e);
        }
    }

    /** Stops watching. Does not wait for a running callback, which completes. Repeating it has no effect. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }
}
