// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.diagnose.PastRuns.Against;
import io.penstock.diagnose.PastRuns.PastRun;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Compares a run with its past once it has taken enough steps, and adds it to the past at its end. A thread of its own
 * looks every few seconds until then; the trainer's thread does nothing for it.
 */
final class Baseline implements AutoCloseable {

    static final long LEAST_STEPS = 200;
    private static final long LOOK_MILLIS = 2_000;
    private static final System.Logger LOG = System.getLogger(Baseline.class.getName());

    private final Path file;
    private final LongSupplier steps;
    private final Supplier<Summary> summary;
    private final Thread thread = new Thread(this::watch, "penstock-baseline");
    /** Guarded by this. */
    private boolean closed;

    /** The steps are those that count so far. Checks that the file can be read. */
    Baseline(Path file, LongSupplier steps, Supplier<Summary> summary) throws IOException {
        this.file = file;
        this.steps = steps;
        this.summary = summary;
        BaselineFile.read(file);
        thread.setDaemon(true);
    }

    Baseline start() {
        thread.start();
        return this;
    }

    private void watch() {
        try {
            while (!look()) {
                Thread.sleep(LOOK_MILLIS);
            }
        } catch (InterruptedException _) {
            // It was closed.
        }
    }

    /** Says so if the run is slower than its past; returns whether there were enough steps to tell. */
    boolean look() {
        if (steps.getAsLong() < LEAST_STEPS) {
            return false;
        }
        try {
            judge(summary.get()).filter(Against::isSlower).ifPresent(slower ->
                    LOG.log(System.Logger.Level.WARNING, "slower than before: {0}", slower.text()));
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "{0}: the past of this run cannot be read: {1}", file, e.getMessage());
        }
        return true;
    }

    private Optional<Against> judge(Summary now) throws IOException {
        return BaselineFile.read(file).of(key(now)).judge(PastRun.of(now));
    }

    private static Map<String, String> key(Summary now) {
        return BaselineFile.key(now.fingerprint(), now.input().rank(), Summarizer.hostName());
    }

    /** A run beside its past; empty if the run has too few steps, or there is no past. */
    Optional<Against> against(Summary now) {
        if (now.input().stepMillis().count() < LEAST_STEPS) {
            return Optional.empty();
        }
        try {
            return judge(now);
        } catch (IOException _) {
            return Optional.empty();        // look() has said why
        }
    }

    /** Adds the run to its past, if it has enough steps. Failing to do so fails no run. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        thread.interrupt();
        try {
            Summary now = summary.get();
            if (now.input().stepMillis().count() < LEAST_STEPS) {
                return;
            }
            PastRun run = PastRun.of(now);
            boolean slower = judge(now).filter(Against::isSlower).isPresent();
            BaselineFile.read(file).with(key(now), slower ? run.asSlower() : run).write(file);
        } catch (IOException | RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "{0}: this run was not added to its past: {1}", file, e.getMessage());
        }
    }
}
