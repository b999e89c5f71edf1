// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import java.util.Arrays;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** Counts, keeps accounts, and reports to the flight recorder and to a listening profiler. */
final class AccountingProbe implements LoaderProbe, AutoCloseable {

    /** Minimum wait after which the trainer's thread reads how full the slots are; it also does so periodically. */
    private static final long LOOK_NANOS = 20_000;
    private static final int LOOK_EVERY = 16;

    private final LoaderTotals totals;
    private final AccountBook accounts;
    private final UsageMeter[] meters;
    private final FlightProbe flight;
    private final LoaderProbe tool;
    private final SlotLevels slots;
    private final LongSupplier nanoTime;

    AccountingProbe(LoaderIdentity of, LoaderTotals totals, AccountBook accounts, FlightProbe flight, LoaderProbe tool,
            SlotLevels slots, LongSupplier nanoTime) {
        this.totals = totals;
        this.accounts = accounts;
        this.flight = flight;
        this.tool = tool;
        this.slots = slots;
        this.nanoTime = nanoTime;
        this.meters = new UsageMeter[of.fillers()];
        Arrays.setAll(meters, _ -> new UsageMeter(nanoTime == Telemetry.MACHINE_TIME));
    }

    @Override
    public void awaitsSlot(int worker) {
        flight.awaitsSlot(worker);
    }

    @Override
    public void claimed(Filling batch) {
        batch.kept = accounts.keeps(batch.sequence);
        flight.claimed(batch);
    }

    @Override
    public void planned(Filling batch) {
        meters[batch.worker].begin(batch);
        flight.planned(batch);
        tool.planned(batch);
    }

    @Override
    public void filled(Filling batch) {
        meters[batch.worker].end(batch);
        tool.filled(batch);
        flight.filled(batch);
        totals.filled(batch);
        if (batch.kept) {
            accounts.made(batch);
        }
    }

    @Override
    public void reached(long sequence) {
        flight.reached(sequence);
        tool.reached(sequence);
    }

    @Override
    public void submitted(long sequence, long bytes, long beginAt, long endAt) {
        totals.submitted(sequence, bytes, beginAt, endAt);
        if (accounts.keeps(sequence)) {
            accounts.submitted(sequence, beginAt, endAt);
        }
        flight.submitted(sequence, bytes, beginAt, endAt);
    }

    @Override
    public void arrived(long sequence) {
        if (accounts.keeps(sequence)) {
            accounts.arrived(sequence, nanoTime.getAsLong());
        }
        flight.arrived(sequence);
        tool.arrived(sequence);
    }

    @Override
    public void clocked(DeviceTimes times) {
        if (accounts.keeps(times.sequence)) {
            accounts.clocked(times);
        }
    }

    @Override
    public void requested(long sequence, EpochBounds epochs) {
        flight.requested(sequence, epochs);
        tool.requested(sequence, epochs);
    }

    @Override
    public void taken(long sequence, long requestedAt, long takenAt, int samples, int replaced) {
        totals.taken(sequence, requestedAt, takenAt, samples, replaced);
        boolean waited = requestedAt != NOT_MEASURED;
        if (accounts.keeps(sequence)) {
            long taken = waited ? takenAt : nanoTime.getAsLong();
            account(sequence, waited ? requestedAt : taken, taken);
        } else {
            accounts.passed(sequence, waited ? takenAt - requestedAt : 0);
        }
        flight.taken(sequence, requestedAt, takenAt, samples, replaced);
        tool.taken(sequence, requestedAt, takenAt, samples, replaced);
    }

    /** Reads the slots, whose cache lines belong to the workers, only after a wait or periodically. */
    private void account(long sequence, long requestedAt, long takenAt) {
        boolean looks = takenAt - requestedAt >= LOOK_NANOS || sequence % LOOK_EVERY == 0;
        accounts.taken(sequence, requestedAt, takenAt, looks ? slots.madeFrom(sequence) : (int) NOT_MEASURED,
                looks ? slots.empty() : (int) NOT_MEASURED);
    }

    @Override
    public void notTaken(long waitNanos) {
        totals.notTaken(waitNanos);
        flight.notTaken(waitNanos);
        tool.notTaken(waitNanos);
    }

    @Override
    public void closed(long sequence) {
        if (accounts.keeps(sequence)) {
            accounts.closed(sequence, nanoTime.getAsLong());
        }
        flight.closed(sequence);
        tool.closed(sequence);
    }

    /** Call only when no thread calls the probe any more. */
    @Override
    public void close() {
        flight.close();
        Stream.of(meters).forEach(UsageMeter::close);
    }
}
