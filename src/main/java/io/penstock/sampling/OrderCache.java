package io.penstock.sampling;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The orders of the few epochs that workers are planning at the moment, so that no batch builds one.
 *
 * <p>Assumes that a sampler's epoch is a pure function: two threads that miss together both build it and either result
 * serves. Guarantees that a hit is one volatile read and allocates nothing.
 */
final class OrderCache {

    private record Entry(long epoch, Order order) { }

    /** Workers straddle at most two epochs unless an epoch is shorter than the prefetch depth. */
    private static final int SLOTS = 8;

    private final Sampler sampler;
    private final AtomicReferenceArray<Entry> entries = new AtomicReferenceArray<>(SLOTS);

    OrderCache(Sampler sampler) {
        this.sampler = sampler;
    }

    Order of(long epoch) {
        int slot = (int) (epoch & (SLOTS - 1));
        Entry entry = entries.get(slot);
        if (entry == null || entry.epoch != epoch) {
            entry = new Entry(epoch, sampler.epoch(epoch));
            entries.set(slot, entry);
        }
        return entry.order;
    }
}
