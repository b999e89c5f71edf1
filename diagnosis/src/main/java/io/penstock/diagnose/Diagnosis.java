// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.device.Device;
import io.penstock.diagnose.Summary.Fingerprint;
import io.penstock.diagnose.Summary.Headroom;
import io.penstock.diagnose.machine.MachineLog;
import io.penstock.diagnose.machine.MachineWatch;
import io.penstock.diagnose.watch.RankStatus;
import io.penstock.loader.Batch;
import io.penstock.loader.DeviceLoader;
import io.penstock.loader.LoaderInfo;
import io.penstock.loader.Replay;
import io.penstock.telemetry.Accounts;
import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.Marks;
import io.penstock.telemetry.Phase;
import io.penstock.telemetry.SampleTimes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
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
 * <p>The loader keeps its accounts anyway; this adds the JVM's pauses from now on, looks at the {@linkplain
 * io.penstock.diagnose.machine.MachineWatch machine}, and the trainer's marks. Marks are
 * optional: without any, compute lasts from taking a batch to closing it. Marks that are made before a batch is closed
 * are also recorded on the stream that took it, if the loader uses the {@linkplain
 * io.penstock.loader.DataLoaderBuilder#withDeviceClock device's clock}.
 *
 * <p><b>Threads.</b> Only the trainer's thread marks: the one that created this, or restarted it. Any thread may call
 * the other methods.
 */
public final class Diagnosis implements AutoCloseable {

    private static final double WARM_SHARE = 0.05;
    private static final double COLD_SHARE = 0.5;
    private static final int MOST_INTERLUDES = 1024;
    private static final LoaderReport NOTHING = new LoaderReport(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, List.of(),
            LoaderReport.Downloads.NONE);

    private final DeviceLoader loader;
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
    /** How long samples had taken then; null while it measures. */
    private volatile @Nullable SampleTimes samplesThen;
    private volatile @Nullable Headroom headroom;
    private volatile @Nullable Baseline baseline;
    private final @Nullable MachineWatch watch;
    private final Marks.Listener listener = this::beganElsewhere;
    private volatile Thread trainer = Thread.currentThread();
    /** Of the trainer's thread. */
    private int markDepth;
    /** In the phase so far. Of the trainer's thread. */
    private long interludeNanos;
    /** Of the backward passes, when they were last looked at. Guarded by this. */
    private long exchangeStep = -1;
    private long exchangeNanos;
    private double exchangeMillis = Double.NaN;
    /** Guarded by itself. */
    private final Deque<Recording.Interlude> interludes = new ArrayDeque<>();
    /** What is marked now, with its begin as its end; null if nothing is. */
    private volatile Recording.@Nullable Interlude open;

    /** The clock must be the one of the loader's accounts. Does not look at the machine. */
    Diagnosis(DeviceLoader loader, LongSupplier nanoTime) {
        this(loader, nanoTime, null);
    }

    private Diagnosis(DeviceLoader loader, LongSupplier nanoTime, @Nullable MachineWatch watch) {
        this.watch = watch;
        this.loader = loader;
        this.accounts = loader.accounts().orElse(null);
        this.before = NOTHING;
        this.nanoTime = nanoTime;
        Marks.add(listener);
    }

    /**
     * Starts diagnosing a loader. Earlier batches count too, as far as the loader has their accounts.
     *
     * @param loader the loader
     * @return the diagnosis, which the caller closes before or after the loader
     */
    public static Diagnosis of(DeviceLoader loader) {
        Device device = loader.device();
        return new Diagnosis(loader, System::nanoTime, MachineWatch.start(device.hostAccessible()
                ? OptionalInt.empty() : OptionalInt.of(device.ordinal())));
    }

    /** Discards everything so far, marks included, as a warm-up. If the trainer marks, its thread must call this. */
    public void restart() {
        before = loader.report();
        loader.restartSampleTimes();
        samplesThen = null;
        from = next();
        until = Long.MAX_VALUE;
        after = null;
        markedSteps = 0;
        Arrays.fill(markedNanos, 0);
        trainer = Thread.currentThread();
        synchronized (interludes) {
            interludes.clear();
        }
    }

    /** Ignores everything from now on, until {@link #restart}. Repeating it has no effect. */
    public void stop() {
        if (after == null) {
            until = next();
            after = loader.report();
            samplesThen = loader.sampleTimes();
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
        interludeNanos = 0;
        markOnDevice(next);
    }

    /**
     * Ends the phase.
     *
     * @throws IllegalStateException if the device reports an error: the loader has then failed
     */
    public void end() {
        ended(nanoTime.getAsLong());
        phase = null;
        markOnDevice(null);
    }

    /** Marks the phase on the device too. */
    private void markOnDevice(@Nullable Phase next) {
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
        long nanos = now - phaseBegan - interludeNanos;
        markedNanos[phase.ordinal()] += nanos;
        accounts.computed(batch, nanos);
    }

    /**
     * Marks what follows as no training: a checkpoint, an evaluation. Its time is in no step, share or throughput; the
     * summary lists it apart. {@link io.penstock.state.Checkpoint#save} marks itself. Of marks within marks the outer
     * one counts; of other threads than the trainer's, none.
     *
     * {@snippet :
     * try (Marks.Mark _ = diagnosis.mark("evaluation")) {
     *     // …
     * }
     * }
     *
     * @param name what it is: {@code checkpoint}, {@code evaluation}
     * @return closed by the caller when that ends
     */
    public Marks.Mark mark(String name) {
        if (markDepth++ == 0) {
            long now = nanoTime.getAsLong();
            open = new Recording.Interlude(name, now, now);
        }
        return this::ended;
    }

    private Marks.Mark beganElsewhere(String name) {
        return Thread.currentThread() == trainer ? mark(name) : () -> { };
    }

    private void ended() {
        Recording.Interlude begun = open;
        if (--markDepth > 0 || begun == null) {
            return;
        }
        open = null;
        var whole = new Recording.Interlude(begun.name(), begun.beginAt(), nanoTime.getAsLong());
        interludeNanos += whole.nanos();
        synchronized (interludes) {
            if (interludes.size() == MOST_INTERLUDES) {
                interludes.removeFirst();
            }
            interludes.addLast(whole);
        }
    }

    /** {@return what was marked as no training so far, in order; what is marked now ends now} */
    public List<Recording.Interlude> interludes() {
        Recording.Interlude now = open;
        List<Recording.Interlude> all;
        synchronized (interludes) {
            all = new ArrayList<>(interludes);
        }
        if (now != null && (all.isEmpty() || all.getLast().beginAt() != now.beginAt())) {
            all.add(new Recording.Interlude(now.name(), now.beginAt(), nanoTime.getAsLong()));
        }
        return all;
    }

    /** {@return what was seen of the machine so far} */
    public MachineLog machine() {
        return watch == null ? MachineLog.NONE : watch.log();
    }

    /**
     * Compares this run with its past, which a file keeps by data, settings and machine. After 200 steps, a run that is
     * slower than its past by more than the {@linkplain PastRuns noise} says so in the log, with the part of a step
     * that it is; summaries then have it as a finding. {@link #close} adds the run to the file, if it has as many
     * steps. The file is read and written by other threads than the trainer's, and by {@link #close}.
     *
     * @param file the file; made if missing. Ranks that share a file at the same time may lose a run of each other
     * @throws IOException if it cannot be read, or is no such file
     * @throws IllegalStateException if there is one already
     */
    public void baseline(Path file) throws IOException {
        openBaseline(file).start();
    }

    /** Without the thread that looks. */
    synchronized Baseline openBaseline(Path file) throws IOException {
        if (baseline != null) {
            throw new IllegalStateException("found a second baseline, expected one");
        }
        var made = new Baseline(file, () -> accounts == null ? 0 : Math.min(until, next()) - from, this::withoutPast);
        baseline = made;
        return made;
    }

    /** {@return the loader that is diagnosed} */
    public DeviceLoader loader() {
        return loader;
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
        Recording.@Nullable PhaseMarks marks = markedSteps == 0 ? null : new Recording.PhaseMarks(markedSteps,
                markedNanos[Phase.FORWARD.ordinal()], markedNanos[Phase.BACKWARD.ordinal()],
                markedNanos[Phase.OPTIMIZER.ordinal()]);
        LoaderReport last = after;
        LoaderReport report = (last == null ? loader.report() : last).since(before);
        SampleTimes timed = samplesThen;
        return new Recording(loader.info(), all, paused, marks, MachineProbe.of(loader), report.parts(),
                report.downloads(), report.samples(), interludes(), machine(),
                timed == null ? loader.sampleTimes() : timed);
    }

    /** {@return a diagnosis of the recording so far, which takes some milliseconds} */
    public Summary summary() {
        Summary summary = withPast(withoutPast());
        FlightReport.of(summary);
        return summary;
    }

    /**
     * {@return this run beside its {@linkplain #baseline past}; empty without a past, and before 200 steps. Takes some
     * milliseconds}
     */
    public Optional<PastRuns.Against> past() {
        Baseline past = baseline;
        return past == null ? Optional.empty() : past.against(withoutPast());
    }

    private Summary withPast(Summary summary) {
        Baseline past = baseline;
        return past == null ? summary : PastRuns.finding(past.against(summary)).map(summary::with).orElse(summary);
    }

    private Summary withoutPast() {
        Recording recording = recording();
        var facts = new Facts(recording);
        return new Summarizer(facts).summary(fingerprint(facts), accounts == null ? 0
                : accounts.costNanos(recording.accounts()), headroom);
    }

    /**
     * {@return the latest fifty steps, for those who watch the run; cheap enough for every second, and for any thread}
     */
    public RankStatus status() {
        long newest = accounts == null ? -1 : accounts.newest();
        List<BatchAccount> all = accounts == null || newest < 0 ? List.of()
                : accounts.since(Math.max(from, newest - StatusMaker.WINDOW - 3));
        List<Recording.Stretch> paused = all.isEmpty() ? List.of() : pauses.since(all.getFirst().making().claimedAt());
        var recording = new Recording(loader.info(), all, paused, null, new Recording.Machine(1, Double.NaN,
                Double.NaN, Double.NaN), List.of(), LoaderReport.Downloads.NONE, 0, interludes(), machine(),
                SampleTimes.NONE);
        Recording.Interlude now = open;
        return new StatusMaker(recording, newest, nanoTime.getAsLong(), now == null ? "" : now.name())
                .status(exchangeMillis(newest), loader.report().since(before).consumerWaitNanos() / 1e9);
    }

    /** The mean backward pass of about as many steps, as two calls of this saw them; NaN without marks. */
    private synchronized double exchangeMillis(long newest) {
        long nanos = markedNanos[Phase.BACKWARD.ordinal()];
        if (nanos == 0) {
            return Double.NaN;
        }
        if (newest - exchangeStep >= StatusMaker.WINDOW || newest < exchangeStep) {
            double millis = (double) (nanos - exchangeNanos) / 1e6 / Math.max(1, newest - exchangeStep);
            exchangeMillis = newest > exchangeStep && nanos >= exchangeNanos ? millis : exchangeMillis;
            exchangeStep = newest;
            exchangeNanos = nanos;
        }
        return exchangeMillis;
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

    /**
     * Stops listening to the garbage collectors and looking at the machine, and adds the run to its {@linkplain
     * #baseline past}, if it has one. Repeating it has no effect.
     */
    @Override
    public void close() {
        Marks.remove(listener);
        Baseline past = baseline;
        if (past != null) {
            past.close();
        }
        if (watch != null) {
            watch.close();
        }
        pauses.close();
    }
}
