package io.penstock.loader;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where the time of one thread that fills went, in nanoseconds, and what it made: running totals. That thread alone
 * writes them, for every batch, on a cache line of their own; any thread may read them, and sees some recent values.
 */
final class WorkerClocks {

    /** What is counted. */
    enum Total { SLOT_WAIT_NANOS, PLAN_NANOS, COLLATE_NANOS, BYTES }

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] totals = new long[CacheLine.SLOTS];

    void filled(long claimed, long free, long planned, long collated, long usedBytes) {
        add(Total.SLOT_WAIT_NANOS, free - claimed);
        add(Total.PLAN_NANOS, planned - free);
        add(Total.COLLATE_NANOS, collated - planned);
        add(Total.BYTES, usedBytes);
    }

    private void add(Total which, long amount) {
        int i = CacheLine.MIDDLE + which.ordinal();
        ELEMENT.setOpaque(totals, i, totals[i] + amount);
    }

    long get(Total which) {
        return (long) ELEMENT.getOpaque(totals, CacheLine.MIDDLE + which.ordinal());
    }

    /** What was spent on filling, without the waiting for slots. */
    long fillNanos() {
        return get(Total.PLAN_NANOS) + get(Total.COLLATE_NANOS);
    }
}
