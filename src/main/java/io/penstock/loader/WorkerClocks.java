package io.penstock.loader;

/** Where one worker's time went, in nanoseconds, and what it made. Written by that worker alone. */
final class WorkerClocks {

    final Counter slotWaitNanos = new Counter();
    final Counter planNanos = new Counter();
    final Counter collateNanos = new Counter();
    final Counter bytes = new Counter();

    void filled(long claimed, long free, long planned, long collated, long usedBytes) {
        slotWaitNanos.add(free - claimed);
        planNanos.add(planned - free);
        collateNanos.add(collated - planned);
        bytes.add(usedBytes);
    }
}
