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
 * Watches a loader and tells a callback when a rule fires or clears.
 *
 * {@snippet :
 * try (var monitor = AlertMonitor.open(loader, List.of(AlertRule.waitAbove(0.2, 100)), alert -> page(alert))) {
 *     // … train …
 * }
 * }
 *
 * <p>The callback is called on the monitor's own daemon thread, never on the trainer's: training takes no notice of how
 * long it takes, and what it throws is logged. Every alert is logged as well: fired as a warning, cleared as a note.
 *
 * <p>The monitor reads the loader's running totals four times a second. A stretch so begins and ends up to a quarter of
 * a second late, and has the rule's steps or some more. It ends after a minute, too, if the steps have not come by
 * then: so throughput that has stopped is seen. What the trainer waits for the first batch is not judged, and a pause
 * of the trainer's own, such as a validation, counts as time in which it did not wait.
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
     * Begins to watch.
     *
     * @param loader what to watch; may be closed before the monitor
     * @param rules what to tell of
     * @param callback who is told, on the monitor's thread
     * @return the monitor, to be closed by the caller
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

    /**
     * Ends the watch. A callback that runs is let finish, and not waited for. Calling it again does nothing.
     */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }
}
