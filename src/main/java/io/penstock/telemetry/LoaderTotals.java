package io.penstock.telemetry;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.telemetry.WorkerClocks.Total;
import java.util.Arrays;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** A loader's running totals: each has one writer; any thread may read all. */
final class LoaderTotals implements LoaderProbe {

    private final WorkerClocks[] fillers;
    private final LongSupplier verifiedBytes;
    private final Counter submitNanos = new Counter();
    private final Counter batches = new Counter();
    private final Counter samples = new Counter();
    private final Counter badSamples = new Counter();
    private final Counter consumerWaitNanos = new Counter();

    /**
     * Creates totals of 0.
     *
     * @param verifiedBytes returns the bytes that workers have verified so far
     */
    LoaderTotals(LoaderIdentity of, LongSupplier verifiedBytes) {
        this.fillers = new WorkerClocks[of.fillers()];
        Arrays.setAll(fillers, _ -> new WorkerClocks());
        this.verifiedBytes = verifiedBytes;
    }

    @Override
    public void filled(Filling batch) {
        fillers[batch.worker].filled(batch);
    }

    @Override
    public void submitted(long sequence, long bytes, long beginAt, long endAt) {
        submitNanos.add(endAt - beginAt);
    }

    @Override
    public void taken(long sequence, long requestedAt, long takenAt, int count, int replaced) {
        batches.add(1);
        samples.add(count);
        if (replaced > 0) {
            badSamples.add(replaced);
        }
        if (requestedAt != NOT_MEASURED) {
            consumerWaitNanos.add(takenAt - requestedAt);
        }
    }

    @Override
    public void notTaken(long waitNanos) {
        if (waitNanos != NOT_MEASURED) {
            consumerWaitNanos.add(waitNanos);
        }
    }

    LoaderReport report() {
        return new LoaderReport(batches.get(), samples.get(), sum(Total.BYTES), sum(Total.PLAN_NANOS),
                sum(Total.COLLATE_NANOS), sum(Total.SLOT_WAIT_NANOS), submitNanos.get(), consumerWaitNanos.get(),
                badSamples.get(), verifiedBytes.getAsLong());
    }

    private long sum(Total which) {
        return Stream.of(fillers).mapToLong(clocks -> clocks.get(which)).sum();
    }
}
