// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.os.CacheLine;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where one filling thread's time went, in nanoseconds, and what it made: running totals. Only that thread writes them,
 * for every batch, on its own cache line; any thread may read recent values.
 */
final class WorkerClocks {

    /** The totals. */
    enum Total { SLOT_WAIT_NANOS, PLAN_NANOS, COLLATE_NANOS, BYTES }

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] totals = new long[CacheLine.SLOTS];

    void filled(Filling batch) {
        add(Total.SLOT_WAIT_NANOS, batch.slotAt - batch.claimedAt);
        add(Total.PLAN_NANOS, batch.plannedAt - batch.slotAt);
        add(Total.COLLATE_NANOS, batch.madeAt - batch.plannedAt);
        add(Total.BYTES, batch.bytes);
    }

    private void add(Total which, long amount) {
        int i = CacheLine.MIDDLE + which.ordinal();
        ELEMENT.setOpaque(totals, i, totals[i] + amount);
    }

    long get(Total which) {
        return (long) ELEMENT.getOpaque(totals, CacheLine.MIDDLE + which.ordinal());
    }
}
