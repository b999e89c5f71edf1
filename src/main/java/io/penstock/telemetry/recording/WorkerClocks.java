// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.os.CacheLine;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Map;

/**
 * Where one filling thread's time went, in nanoseconds, and what it made: running totals. Only that thread writes them,
 * for every batch, on its own cache line; any thread may read recent values.
 */
final class WorkerClocks {

    enum Total {
        SLOT_WAIT_NANOS, PLAN_NANOS, COLLATE_NANOS, BYTES, SOURCE_EMPTY_NANOS, SOURCE_SLOW_NANOS, REMOTE_READS,
        WAITING_READS, REMOTE_BYTES
    }

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    /** The parts of the samples' making, and the nanoseconds of each. */
    private record Parts(List<String> names, long[] nanos) {
    }

    private final long[] totals = new long[CacheLine.SLOTS];
    /** Replaced once, when the first batch tells its parts. */
    private volatile Parts parts = new Parts(List.of(), new long[0]);

    void filled(Filling batch) {
        add(Total.SLOT_WAIT_NANOS, batch.slotAt - batch.claimedAt);
        long source = batch.sourceEmptyNanos + batch.sourceSlowNanos;
        add(Total.PLAN_NANOS, Math.max(0, batch.plannedAt - batch.slotAt - source));
        if (source > 0) {
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
