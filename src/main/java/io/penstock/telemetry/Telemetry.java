package io.penstock.telemetry;

import io.penstock.telemetry.nvtx.NvtxRange;
import java.util.Optional;
import java.util.function.LongSupplier;

/** What one loader tells: its {@linkplain #probe probe}, and what can be read of it. */
public final class Telemetry implements AutoCloseable {

    /** The clock of the operating system, in whose time it says what threads used. */
    public static final LongSupplier MACHINE_TIME = System::nanoTime;

    private final LoaderTotals totals;
    private final Optional<Accounts> accounts;
    private final LoaderProbe probe;
    private final Runnable closing;

    private Telemetry(LoaderTotals totals, Optional<Accounts> accounts, LoaderProbe probe, Runnable closing) {
        this.totals = totals;
        this.accounts = accounts;
        this.probe = probe;
        this.closing = closing;
    }

    /**
     * Counts, and does nothing else.
     *
     * @param of the loader
     * @param verifiedBytes how many bytes its workers have checked so far; called by any thread
     * @return to be closed by the caller
     */
    public static Telemetry counting(LoaderIdentity of, LongSupplier verifiedBytes) {
        var totals = new LoaderTotals(of, verifiedBytes);
        return new Telemetry(totals, Optional.empty(), totals, () -> { });
    }

    /**
     * Counts, keeps an account of each of the latest batches, and tells the flight recorder and NVIDIA's tools.
     *
     * @param of the loader
     * @param verifiedBytes how many bytes its workers have checked so far; called by any thread
     * @param slots how full its slots are
     * @param nanoTime what accounts tell the time by: {@link #MACHINE_TIME} outside of tests
     * @return to be closed by the caller
     */
    public static Telemetry accounting(LoaderIdentity of, LongSupplier verifiedBytes, SlotLevels slots,
            LongSupplier nanoTime) {
        var totals = new LoaderTotals(of, verifiedBytes);
        var accounts = new Accounts(of.copies());
        var flight = new FlightProbe(of, slots, accounts, totals::report);
        Optional<NvtxProbe> tool = NvtxRange.areHeard() ? Optional.of(new NvtxProbe(of, slots.size()))
                : Optional.empty();
        var probe = new AccountingProbe(of, totals, accounts, flight, tool.<LoaderProbe>map(ranges -> ranges)
                .orElse(LoaderProbe.NONE), slots, nanoTime);
        return new Telemetry(totals, Optional.of(accounts), probe, () -> {
            probe.close();
            tool.ifPresent(NvtxProbe::close);
        });
    }

    /**
     * What the loader tells of its batches.
     *
     * @return the one probe of the loader
     */
    public LoaderProbe probe() {
        return probe;
    }

    /**
     * Where the time went so far. May be called by any thread.
     *
     * @return running totals
     */
    public LoaderReport report() {
        return totals.report();
    }

    /**
     * Where the time of each of the latest batches went. May be called by any thread.
     *
     * @return the accounts; empty if none are kept
     */
    public Optional<Accounts> accounts() {
        return accounts;
    }

    /** Ends what is told to profilers. Only when nothing calls the probe any more. Calling it again does nothing. */
    @Override
    public void close() {
        closing.run();
    }
}
