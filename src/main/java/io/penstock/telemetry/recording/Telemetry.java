// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.telemetry.Accounts;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.nvtx.NvtxRange;
import java.util.Optional;
import java.util.function.LongSupplier;

/** One loader's telemetry: the {@linkplain #probe probe} it reports to, and the results. */
public final class Telemetry implements AutoCloseable {

    /** The clock in which the operating system reports what threads used. */
    public static final LongSupplier MACHINE_TIME = System::nanoTime;

    private final LoaderTotals totals;
    private final Optional<AccountBook> accounts;
    private final LoaderProbe probe;
    private final Runnable closing;

    private Telemetry(LoaderTotals totals, Optional<AccountBook> accounts, LoaderProbe probe, Runnable closing) {
        this.totals = totals;
        this.accounts = accounts;
        this.probe = probe;
        this.closing = closing;
    }

    /** Creates telemetry that only counts; any thread may ask for the bytes that the workers have verified so far. */
    public static Telemetry counting(LoaderIdentity of, LongSupplier verifiedBytes) {
        var totals = new LoaderTotals(of, verifiedBytes);
        return new Telemetry(totals, Optional.empty(), totals, () -> { });
    }

    /**
     * Creates telemetry that counts, keeps accounts of the latest batches, and reports to JFR and NVIDIA's tools. The
     * accounts' clock is {@link #MACHINE_TIME} outside of tests.
     */
    public static Telemetry accounting(LoaderIdentity of, LongSupplier verifiedBytes, SlotLevels slots,
            LongSupplier nanoTime) {
        var totals = new LoaderTotals(of, verifiedBytes);
        var accounts = new AccountBook(of.copies(), of.timed());
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

    /** {@return the loader's only probe} */
    public LoaderProbe probe() {
        return probe;
    }

    /** {@return where the time went so far, as running totals; thread-safe} */
    public LoaderReport report() {
        return totals.report();
    }

    /** {@return where the time of each of the latest batches went, empty if no accounts are kept; thread-safe} */
    public Optional<Accounts> accounts() {
        return accounts.map(book -> book);
    }

    /** Sets what marks phases on the device. Call before the loader is used. */
    public void markBy(PhaseMarks marks) {
        accounts.ifPresent(book -> book.markBy(marks));
    }

    /** Stops reporting to profilers. Call only when nothing calls the probe any more. Repeating it has no effect. */
    @Override
    public void close() {
        closing.run();
    }
}
