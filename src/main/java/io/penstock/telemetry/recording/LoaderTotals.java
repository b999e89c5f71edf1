// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.recording.WorkerClocks.Total;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** A loader's running totals: each has one writer; any thread may read all. */
final class LoaderTotals implements LoaderProbe {

    private final WorkerClocks[] fillers;
    private final LongSupplier verifiedBytes;
    private final AtomicLong submitNanos = new AtomicLong();
    private final AtomicLong batches = new AtomicLong();
    private final AtomicLong samples = new AtomicLong();
    private final AtomicLong badSamples = new AtomicLong();
    private final AtomicLong consumerWaitNanos = new AtomicLong();

    /** The supplier returns the bytes that workers have verified so far. */
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
        add(submitNanos, endAt - beginAt);
    }

    @Override
    public void taken(long sequence, long requestedAt, long takenAt, int count, int replaced) {
        add(batches, 1);
        add(samples, count);
        if (replaced > 0) {
            add(badSamples, replaced);
        }
        if (requestedAt != NOT_MEASURED) {
            add(consumerWaitNanos, takenAt - requestedAt);
        }
    }

    @Override
    public void notTaken(long waitNanos) {
        if (waitNanos != NOT_MEASURED) {
            add(consumerWaitNanos, waitNanos);
        }
    }

    private static void add(AtomicLong total, long amount) {
        total.setOpaque(total.getOpaque() + amount);
    }

    LoaderReport report() {
        return new LoaderReport(batches.getOpaque(), samples.getOpaque(), sum(Total.BYTES), sum(Total.PLAN_NANOS),
                sum(Total.COLLATE_NANOS), sum(Total.SLOT_WAIT_NANOS), sum(Total.SOURCE_EMPTY_NANOS),
                sum(Total.SOURCE_SLOW_NANOS), submitNanos.getOpaque(),
                consumerWaitNanos.getOpaque(), badSamples.getOpaque(), verifiedBytes.getAsLong(), parts(),
                new LoaderReport.Downloads(sum(Total.REMOTE_READS), sum(Total.WAITING_READS), sum(Total.REMOTE_BYTES),
                        0, 0, 0, 0));
    }

    private List<LoaderReport.PartTime> parts() {
        Map<String, Long> byName = new LinkedHashMap<>();
        Stream.of(fillers).forEach(clocks -> clocks.addTo(byName));
        return byName.entrySet().stream()
                .map(part -> new LoaderReport.PartTime(part.getKey(), part.getValue())).toList();
    }

    private long sum(Total which) {
        return Stream.of(fillers).mapToLong(clocks -> clocks.get(which)).sum();
    }
}
