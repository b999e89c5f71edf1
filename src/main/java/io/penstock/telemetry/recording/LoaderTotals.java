// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import static io.penstock.telemetry.BatchAccount.NOT_MEASURED;

import io.penstock.os.CacheLine;
import io.penstock.telemetry.LoaderReport;
import io.penstock.telemetry.recording.Telemetry.LoaderIdentity;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** A loader's running totals: each has one writer; any thread may read all. */
final class LoaderTotals implements LoaderProbe {

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    /** What the filling threads count, then the copy thread, then the trainer's thread. */
    private enum Total {
        SLOT_WAIT_NANOS, PLAN_NANOS, COLLATE_NANOS, BYTES, SOURCE_EMPTY_NANOS, SOURCE_SLOW_NANOS, REMOTE_READS,
        WAITING_READS, REMOTE_BYTES,
        SUBMIT_NANOS,
        BATCHES, SAMPLES, BAD_SAMPLES, CONSUMER_WAIT_NANOS
    }

    private final ThreadTotals[] fillers;
    private final LongSupplier verifiedBytes;
    private final ThreadTotals copier = new ThreadTotals();
    private final ThreadTotals trainer = new ThreadTotals();

    /** The supplier returns the bytes that workers have verified so far. */
    LoaderTotals(LoaderIdentity of, LongSupplier verifiedBytes) {
        this.fillers = new ThreadTotals[of.fillers()];
        Arrays.setAll(fillers, _ -> new ThreadTotals());
        this.verifiedBytes = verifiedBytes;
    }

    @Override
    public void filled(Filling batch) {
        fillers[batch.worker].filled(batch);
    }

    @Override
    public void submitted(long sequence, long bytes, long beginAt, long endAt) {
        copier.add(Total.SUBMIT_NANOS, endAt - beginAt);
    }

    @Override
    public void taken(long sequence, long requestedAt, long takenAt, int count, int replaced) {
        trainer.add(Total.BATCHES, 1);
        trainer.add(Total.SAMPLES, count);
        if (replaced > 0) {
            trainer.add(Total.BAD_SAMPLES, replaced);
        }
        if (requestedAt != NOT_MEASURED) {
            trainer.add(Total.CONSUMER_WAIT_NANOS, takenAt - requestedAt);
        }
    }

    @Override
    public void notTaken(long waitNanos) {
        if (waitNanos != NOT_MEASURED) {
            trainer.add(Total.CONSUMER_WAIT_NANOS, waitNanos);
        }
    }

    LoaderReport report() {
        return new LoaderReport(trainer.get(Total.BATCHES), trainer.get(Total.SAMPLES), sum(Total.BYTES),
                sum(Total.PLAN_NANOS), sum(Total.COLLATE_NANOS), sum(Total.SLOT_WAIT_NANOS),
                sum(Total.SOURCE_EMPTY_NANOS), sum(Total.SOURCE_SLOW_NANOS), copier.get(Total.SUBMIT_NANOS),
                trainer.get(Total.CONSUMER_WAIT_NANOS), trainer.get(Total.BAD_SAMPLES), verifiedBytes.getAsLong(),
                parts(),
                new LoaderReport.Downloads(sum(Total.REMOTE_READS), sum(Total.WAITING_READS), sum(Total.REMOTE_BYTES),
                        0, 0, 0, 0));
    }

    private List<LoaderReport.PartTime> parts() {
        Map<String, Long> byName = new LinkedHashMap<>();
        Stream.of(fillers).forEach(filler -> filler.addTo(byName));
        return byName.entrySet().stream()
                .map(part -> new LoaderReport.PartTime(part.getKey(), part.getValue())).toList();
    }

    private long sum(Total which) {
        return Stream.of(fillers).mapToLong(filler -> filler.get(which)).sum();
    }

    /**
     * Where one thread's time went, in nanoseconds, and what it made. Only that thread writes the totals, for every
     * batch, on its own cache lines; any thread may read recent values.
     */
    private static final class ThreadTotals {

        /** The parts of the samples' making, and the nanoseconds of each. */
        private record Parts(List<String> names, long[] nanos) {
        }

        private final long[] totals = new long[CacheLine.SLOTS];
        /** Replaced once, when the first batch names its parts. */
        private volatile Parts parts = new Parts(List.of(), new long[0]);

        void filled(Filling batch) {
            add(Total.SLOT_WAIT_NANOS, batch.slotAt - batch.claimedAt);
            add(Total.PLAN_NANOS, batch.planNanos());
            if (batch.sourceEmptyNanos + batch.sourceSlowNanos > 0) {
                add(Total.SOURCE_EMPTY_NANOS, batch.sourceEmptyNanos);
                add(Total.SOURCE_SLOW_NANOS, batch.sourceSlowNanos);
            }
            add(Total.COLLATE_NANOS, batch.madeAt - batch.plannedAt);
            add(Total.BYTES, batch.bytes);
            if (batch.remoteReads > 0) {
                add(Total.REMOTE_READS, batch.remoteReads);
                add(Total.WAITING_READS, batch.waitingReads);
                add(Total.REMOTE_BYTES, batch.remoteBytes);
            }
            addParts(batch.parts, batch.partNanos);
        }

        private void addParts(List<String> names, long[] nanos) {
            Parts mine = parts;
            if (mine.nanos.length != nanos.length) {
                mine = new Parts(names, new long[nanos.length]);
                parts = mine;
            }
            for (int i = 0; i < nanos.length; i++) {
                ELEMENT.setOpaque(mine.nanos, i, mine.nanos[i] + nanos[i]);
            }
        }

        private void add(Total which, long amount) {
            int i = CacheLine.MIDDLE + which.ordinal();
            ELEMENT.setOpaque(totals, i, totals[i] + amount);
        }

        /** Adds the parts' times to those of other threads, by name. */
        void addTo(Map<String, Long> byName) {
            Parts mine = parts;
            for (int i = 0; i < mine.nanos.length; i++) {
                byName.merge(mine.names.get(i), (long) ELEMENT.getOpaque(mine.nanos, i), Long::sum);
            }
        }

        long get(Total which) {
            return (long) ELEMENT.getOpaque(totals, CacheLine.MIDDLE + which.ordinal());
        }
    }
}
