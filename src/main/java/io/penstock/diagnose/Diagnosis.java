// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.device.Device;
import io.penstock.diagnose.Summary.Fingerprint;
import io.penstock.diagnose.Summary.Headroom;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.LoaderInfo;
import io.penstock.loader.Replay;
import io.penstock.os.ThreadUsage;
import io.penstock.telemetry.Accounts;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.Phase;
import io.penstock.telemetry.recording.AccountBook;
import io.penstock.telemetry.recording.Recorder;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Diagnoses a loader while a trainer runs on it.
 *
 * {@snippet :
 * try (DataLoader loader = DataLoader.builder(dataset).batchSize(32).open();
 *      Diagnosis diagnosis = Diagnosis.of(loader)) {
 *     for (Batch batch : loader.epoch()) {
 *         try (batch) {
 *             diagnosis.begin(Phase.FORWARD);
 *             // …
 *             diagnosis.begin(Phase.BACKWARD);
 *             // …
 *             diagnosis.end();
 *         }
 *     }
 *     diagnosis.summary().write(Path.of("out"));
 * }
 * }
 *
 * <p>The loader keeps its accounts anyway; this adds the JVM's pauses from now on, and the trainer's marks. Marks are
 * optional: without any, compute lasts from taking a batch to closing it. Marks that are made before a batch is closed
 * are also recorded on the stream that took it, if the loader uses the {@linkplain
 * io.penstock.loader.DataLoaderBuilder#withDeviceClock device's clock}.
 *
 * <p><b>Threads.</b> Only the trainer's thread marks; any thread may call the other methods.
 */
public final class Diagnosis implements AutoCloseable {

    private static final int ASKING_ROUNDS = 100;
    private static final double WARM_SHARE = 0.05;
    private static final double COLD_SHARE = 0.5;
    private static final LoaderReport NOTHING = new LoaderReport(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, List.of(),
            LoaderReport.Downloads.NONE);

    private final DataLoader loader;
    private final @Nullable Accounts accounts;
    private final GcPauses pauses = new GcPauses();
    private final LongSupplier nanoTime;
    private final long[] markedNanos = new long[Phase.values().length];
    private @Nullable Phase phase;
    private long phaseBegan;
    private long markedSteps;
    private long markedBatch = BatchAccount.NOT_MEASURED;
    /** The first batch that counts, by its number since the loader opened. */
    private volatile long from;
    private volatile long until = Long.MAX_VALUE;
    /** The totals when measuring began. */
    private volatile LoaderReport before;
    /** The totals when it stopped; null while it measures. */
    private volatile @Nullable LoaderReport after;
    private volatile @Nullable Headroom headroom;

    /** The clock must be the one of the loader's accounts. */
    Diagnosis(DataLoader loader, LongSupplier nanoTime) {
        this.loader = loader;
        this.accounts = loader.accounts().orElse(null);
        this.before = NOTHING;
        this.nanoTime = nanoTime;
    }

    /**
     * Starts diagnosing a loader. Earlier batches count too, as far as the loader has their accounts.
     *
     * @param loader the loader
     * @return the diagnosis, which the caller closes before or after the loader
     */
    public static Diagnosis of(DataLoader loader) {
        return new Diagnosis(loader, System::nanoTime);
    }

    /** Discards everything so far, marks included, as a warm-up. If the trainer marks, its thread must call this. */
    public void restart() {
        before = loader.report();
        from = next();
        until = Long.MAX_VALUE;
        after = null;
        markedSteps = 0;
        Arrays.fill(markedNanos, 0);
    }

    /** Ignores everything from now on, until {@link #restart}. Repeating it has no effect. */
    public void stop() {
        if (after == null) {
            until = next();
            after = loader.report();
        }
    }

    private long next() {
        return accounts == null ? 0 : accounts.newest() + 1;
    }

    // ---- marks

    /**
     * Begins a phase of the step and ends the previous one.
     *
     * @param next the phase
     * @throws IllegalArgumentException if it is {@link Phase#COPY}
     * @throws IllegalStateException if the device reports an error: the loader has then failed
     */
    public void begin(Phase next) {
        if (next == Phase.COPY) {
            throw new IllegalArgumentException("phase: found COPY, which a loader measures itself; expected another");
        }
        long now = nanoTime.getAsLong();
        ended(now);
        phase = next;
        phaseBegan = now;
        mark(next);
    }

    /**
     * Ends the phase.
     *
     * @throws IllegalStateException if the device reports an error: the loader has then failed
     */
    public void end() {
        ended(nanoTime.getAsLong());
        phase = null;
        mark(null);
    }

    /** Marks the phase on the device too. */
    private void mark(@Nullable Phase next) {
        if (accounts != null && accounts.newest() < until) {
            accounts.began(accounts.newest(), next);
        }
    }

    private void ended(long now) {
        if (phase == null || accounts == null) {
            return;
        }
        long batch = accounts.newest();
        if (batch == BatchAccount.NOT_MEASURED || batch >= until) {
            return;
        }
        if (phase != Phase.COMPUTE && batch != markedBatch) {
            markedBatch = batch;
            markedSteps++;
        }
        markedNanos[phase.ordinal()] += now - phaseBegan;
        accounts.computed(batch, now - phaseBegan);
    }

    // ---- results

    /**
     * Records the trainer's throughput with input that costs nothing.
     *
     * @param syntheticSamplesPerSecond throughput when replaying one loaded batch
     * @param measuredSamplesPerSecond throughput with the real input
     * @return real throughput as a share of that ceiling
     */
    public Headroom headroom(double syntheticSamplesPerSecond, double measuredSamplesPerSecond) {
        var noted = new Headroom(syntheticSamplesPerSecond, measuredSamplesPerSecond,
                measuredSamplesPerSecond / syntheticSamplesPerSecond);
        headroom = noted;
        return noted;
    }

    /**
     * Measures and records the trainer's throughput with input that costs nothing: runs its step repeatedly on one
     * loaded batch. Call it once enough of the real run is recorded: what follows does not count until
     * {@link #restart}.
     *
     * @param steps number of steps to measure, at least 1; a tenth as many unmeasured ones precede them
     * @param step the trainer's step, which need not close the batch
     * @return real throughput as a share of that ceiling
     */
    public Headroom synthetic(long steps, Consumer<Batch> step) {
        if (steps < 1) {
            throw new IllegalArgumentException("found " + steps + " steps, expected at least 1");
        }
        stop();
        double measured = new Facts(recording()).samplesPerSecond();
        try (Replay replay = loader.replay()) {
            run(replay, Math.ceilDiv(steps, 10L), step);
            long begin = nanoTime.getAsLong();
            long samples = run(replay, steps, step);
            return headroom(samples * 1e9 / (nanoTime.getAsLong() - begin), measured);
        }
    }

    private static long run(Replay replay, long steps, Consumer<Batch> step) {
        long samples = 0;
        for (long i = 0; i < steps; i++) {
            try (Batch batch = replay.next()) {
                samples += batch.count();
                step.accept(batch);
            }
        }
        return samples;
    }

    /** {@return the recording so far; without accounts if the loader keeps none} */
    public Recording recording() {
        long end = until;
        List<BatchAccount> all = accounts == null ? List.of()
                : accounts.since(from).stream().filter(account -> account.sequence() < end).toList();
        List<Recording.Stretch> paused = all.isEmpty() ? List.of() : pauses.since(all.getFirst().making().claimedAt());
        Recording.@Nullable Marks marks = markedSteps == 0 ? null : new Recording.Marks(markedSteps,
                markedNanos[Phase.FORWARD.ordinal()], markedNanos[Phase.BACKWARD.ordinal()],
                markedNanos[Phase.OPTIMIZER.ordinal()]);
        LoaderReport last = after;
        LoaderReport report = (last == null ? loader.report() : last).since(before);
        return new Recording(loader.info(), all, paused, marks, MachineProbe.of(loader), report.parts(),
                report.downloads(), report.samples());
    }

    /** {@return a diagnosis of the recording so far, which takes some milliseconds} */
    public Summary summary() {
        Recording recording = recording();
        var facts = new Facts(recording);
        Summary summary = new Summarizer(facts).summary(fingerprint(facts), overheadNanos(recording), headroom);
        if (Recorder.isUsed()) {
            DiagnosisEvent.tell(summary);
        }
        return summary;
    }

    /** The cost of accounts, averaged over all steps, including those without one. */
    private static double overheadNanos(Recording recording) {
        List<BatchAccount> all = recording.accounts();
        if (all.isEmpty()) {
            return 0;
        }
        double asked = all.stream().filter(account -> account.making().usage() != null).count();
        double steps = all.getLast().sequence() - all.getFirst().sequence() + 1;
        double queues = all.stream().filter(account -> account.making().usage() != null
                && account.making().usage().queuedNanos() >= 0).count();
        try (var usage = new ThreadUsage()) {
            return (all.size() * AccountBook.nanosPerBatch() + 2 * asked * askingNanos(usage::read)
                    + 2 * queues * askingNanos(usage::queuedNanos)) / steps;
        }
    }

    private static double askingNanos(Runnable asking) {
        asking.run();
        long begin = System.nanoTime();
        for (int i = 0; i < ASKING_ROUNDS; i++) {
            asking.run();
        }
        return (double) (System.nanoTime() - begin) / ASKING_ROUNDS;
    }

    private Fingerprint fingerprint(Facts facts) {
        Recording recording = facts.recording;
        LoaderInfo info = recording.settings();
        Device device = loader.device();
        return Fingerprint.of(recording.machine().cores(), device.hostAccessible() ? null : device.name(),
                info.dataset(), info.batchSize(), info.worldSize(), info.workers(), info.memory().hostSlots(),
                info.memory().deviceSlots(), info.readMode().toString(), cacheState(facts));
    }

    /** Derived from the bytes that storage delivered for measured batches. */
    private static String cacheState(Facts facts) {
        double share = facts.readAmplification();
        return Double.isNaN(share) ? "unknown" : share < WARM_SHARE ? "warm" : share < COLD_SHARE ? "mixed" : "cold";
    }

    /** Stops listening to the garbage collectors. Repeating it has no effect. */
    @Override
    public void close() {
        pauses.close();
    }
}
