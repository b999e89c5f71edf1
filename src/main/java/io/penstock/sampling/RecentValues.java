// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongFunction;

/**
 * Keeps what was computed for the few epochs, or windows of one, that workers are planning.
 *
 * <p>Assumes that the value of a number is a pure function of it: two threads that miss together may both compute it.
 * Guarantees that a hit is one volatile read and allocates nothing.
 */
final class RecentValues<T> {

    private record Entry<T>(long number, T value) { }

    /** Workers straddle at most two epochs unless an epoch is shorter than the prefetch depth. */
    private static final int SLOTS = 8;

    private final AtomicReferenceArray<Entry<T>> entries = new AtomicReferenceArray<>(SLOTS);
    private final LongFunction<T> compute;

    RecentValues(LongFunction<T> compute) {
        this.compute = compute;
    }

    T of(long number) {
        int slot = (int) (number & (SLOTS - 1));
        Entry<T> found = entries.get(slot);
        if (found != null && found.number == number) {
            return found.value;
        }
        Entry<T> computed = new Entry<>(number, compute.apply(number));
        // A thread that computed the same value meanwhile wins, so that all use one.
        Entry<T> kept = entries.compareAndExchange(slot, found, computed);
        return kept != found && kept != null && kept.number == number ? kept.value : computed.value;
    }
}
