// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.telemetry.Accounts;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.Phase;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One loader's telemetry: the {@linkplain #probe probe} it reports to, and the results. */
public final class Telemetry implements AutoCloseable {

    /** The clock in which the operating system reports what threads used. */
    public static final LongSupplier MACHINE_TIME = System::nanoTime;

    /**
     * The loader that telemetry describes. Without workers, the trainer's thread fills slots; {@code copies} and {@code
     * timed} say whether it copies batches to the device and reads the device's clock.
     */
    public record LoaderIdentity(String name, String device, int workers, boolean copies, boolean timed) {

        /** Threads that fill slots: the workers, or the trainer's thread if there are none. */
        int fillers() {
            return Math.max(1, workers);
        }
    }

    /** The fill level of a loader's host slots. Thread-safe. */
    public interface SlotLevels {

        /** {@return the number of slots, at least 1} */
        int size();

        /** {@return the number of slots without a complete batch} */
        int empty();

        /** {@return the number of complete batches from this one on: those being copied, and those that wait for it} */
        int madeFrom(long sequence);

        /** {@return whether a batch was ever completed} */
        boolean isMadeWith(long sequence);
    }

    /** Marks on the device where the phases of a step begin. */
    @FunctionalInterface
    public interface PhaseMarks {

        /** As {@link Accounts#began}. */
        void mark(long sequence, @Nullable Phase phase);
    }

    private final LoaderTotals totals;
    private final Optional<Sinks> sinks;

    private Telemetry(LoaderTotals totals, Optional<Sinks> sinks) {
        this.totals = totals;
        this.sinks = sinks;
    }

    /** Creates telemetry that only counts; any thread may ask for the bytes that the workers have verified so far. */
    public static Telemetry counting(LoaderIdentity of, LongSupplier verifiedBytes) {
        return new Telemetry(new LoaderTotals(of, verifiedBytes), Optional.empty());
    }

    /**
     * Creates telemetry that counts, keeps accounts of the latest batches, and reports to JFR and NVIDIA's tools. The
     * accounts' clock is {@link #MACHINE_TIME} outside of tests.
     */
    public static Telemetry accounting(LoaderIdentity of, LongSupplier verifiedBytes, SlotLevels slots,
            LongSupplier nanoTime) {
        var totals = new LoaderTotals(of, verifiedBytes);
        var accounts = new BatchAccounts(of, slots, nanoTime);
        LoaderProbe tool = NvtxProbe.isHeard() ? new NvtxProbe(of, slots.size()) : LoaderProbe.NONE;
        return new Telemetry(totals, Optional.of(new Sinks(totals, accounts,
                () -> new FlightProbe(of, slots, accounts, totals::report), tool)));
    }

    /** {@return the loader's only probe} */
    public LoaderProbe probe() {
        return sinks.<LoaderProbe>map(all -> all).orElse(totals);
    }

    /** {@return where the time went so far, as running totals; thread-safe} */
    public LoaderReport report() {
        return totals.report();
    }

    /** {@return where the time of each of the latest batches went, empty if no accounts are kept; thread-safe} */
    public Optional<Accounts> accounts() {
        return sinks.map(all -> all.accounts);
    }

    /** Sets what marks phases on the device. Call before the loader is used. */
    public void markBy(PhaseMarks marks) {
        sinks.ifPresent(all -> all.accounts.markBy(marks));
    }

    /** Stops reporting to profilers. Call only when nothing calls the probe any more. Repeating it has no effect. */
    @Override
    public void close() {
        sinks.ifPresent(Sinks::close);
    }

    /**
     * Passes each event to all sinks, in a fixed order: the accounts first, because the flight recorder shows what they
     * measured. Each field has one class in a run, so the JIT inlines the calls.
     */
    private static final class Sinks implements LoaderProbe {

        private final LoaderTotals totals;
        private final BatchAccounts accounts;
        private final Supplier<FlightProbe> openFlight;
        private final LoaderProbe tool;
        /** Null until there is a recording. */
        private volatile @Nullable FlightProbe flight;

        Sinks(LoaderTotals totals, BatchAccounts accounts, Supplier<FlightProbe> openFlight, LoaderProbe tool) {
            this.totals = totals;
            this.accounts = accounts;
            this.openFlight = openFlight;
            this.tool = tool;
            flight();
        }

        private LoaderProbe flight() {
            FlightProbe open = flight;
            return open != null ? open : FlightProbe.isRecorderUsed() ? openFlight() : NONE;
        }

        private synchronized FlightProbe openFlight() {
            FlightProbe open = flight;
            if (open == null) {
                open = openFlight.get();
                flight = open;
            }
            return open;
        }

        @Override
        public void awaitsSlot(int worker) {
            flight().awaitsSlot(worker);
        }

        @Override
        public void claimed(Filling batch) {
            accounts.claimed(batch);
            flight().claimed(batch);
        }

        @Override
        public void planned(Filling batch) {
            accounts.planned(batch);
            flight().planned(batch);
            tool.planned(batch);
        }

        @Override
        public void filled(Filling batch) {
            accounts.filled(batch);
            tool.filled(batch);
            flight().filled(batch);
            totals.filled(batch);
        }

        @Override
        public void reached(long sequence) {
            flight().reached(sequence);
            tool.reached(sequence);
        }

        @Override
        public void submitted(long sequence, long bytes, long beginAt, long endAt) {
            totals.submitted(sequence, bytes, beginAt, endAt);
            accounts.submitted(sequence, bytes, beginAt, endAt);
            flight().submitted(sequence, bytes, beginAt, endAt);
        }

        @Override
        public void arrived(long sequence) {
            accounts.arrived(sequence);
            flight().arrived(sequence);
            tool.arrived(sequence);
        }

        @Override
        public void clocked(DeviceTimes times) {
            accounts.clocked(times);
        }

        @Override
        public void requested(long sequence, EpochBounds epochs) {
            flight().requested(sequence, epochs);
            tool.requested(sequence, epochs);
        }

        @Override
        public void taken(long sequence, long requestedAt, long takenAt, int samples, int replaced) {
            totals.taken(sequence, requestedAt, takenAt, samples, replaced);
            accounts.taken(sequence, requestedAt, takenAt, samples, replaced);
            flight().taken(sequence, requestedAt, takenAt, samples, replaced);
            tool.taken(sequence, requestedAt, takenAt, samples, replaced);
        }

        @Override
        public void notTaken(long waitNanos) {
            totals.notTaken(waitNanos);
            flight().notTaken(waitNanos);
            tool.notTaken(waitNanos);
        }

        @Override
        public void closed(long sequence) {
            accounts.closed(sequence);
            flight().closed(sequence);
            tool.closed(sequence);
        }

        @Override
        public void close() {
            FlightProbe open = flight;
            if (open != null) {
                open.close();
            }
            accounts.close();
            tool.close();
        }
    }
}
