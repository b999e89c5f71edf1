package io.penstock.sampling;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The orders of the few epochs that workers are planning, so that no batch builds one.
 *
 * <p>Assumes that a sampler's epoch is a pure function: two threads that miss together both build it and either result
 * is used. Guarantees that a hit is one volatile read and allocates nothing.
 */
final class OrderCache {

    private record Entry(long epoch, Order order) { }

    /** Workers straddle at most two epochs unless an epoch is shorter than the prefetch depth. */
    private static final int SLOTS = 8;

    private final Sampler sampler;
    private final long size;
    private final AtomicReferenceArray<Entry> entries = new AtomicReferenceArray<>(SLOTS);

    OrderCache(Sampler sampler) {
        this.sampler = sampler;
        size = sampler.size();
    }

    Order of(long epoch) {
        int slot = (int) (epoch & (SLOTS - 1));
        Entry entry = entries.get(slot);
        if (entry == null || entry.epoch != epoch) {
            Order order = sampler.epoch(epoch);
            if (order.size() != size) {
                throw new IllegalStateException("epoch " + epoch + " has " + order.size() + " samples, expected the "
                        + size + " of " + sampler.fingerprint());
            }
            entry = new Entry(epoch, order);
            entries.set(slot, entry);
        }
        return entry.order;
    }
}
