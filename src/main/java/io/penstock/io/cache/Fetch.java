// SPDX-License-Identifier: Apache-2.0
package io.penstock.io.cache;

import io.penstock.io.FetchPhase;
import io.penstock.io.FetchWaits;
import java.util.concurrent.CompletableFuture;

/** A block on its way into the cache, and how long it has been in each phase. Thread-safe. */
final class Fetch {

    private static final FetchPhase[] PHASES = FetchPhase.values();

    /** Done when the block is in the cache, or cannot be. */
    final CompletableFuture<Void> done = new CompletableFuture<>();
    /** Room in the cache that it was started with; 0 if it has to make some. */
    final long reserved;
    private final long[] nanos = new long[PHASES.length];
    private FetchPhase phase = FetchPhase.QUEUE;
    private final long startedAt = System.nanoTime();
    private long since = startedAt;

    Fetch(long reserved) {
        this.reserved = reserved;
    }

    synchronized void enter(FetchPhase next) {
        long now = System.nanoTime();
        nanos[phase.ordinal()] += now - since;
        since = now;
        phase = next;
    }

    /** The time since it was started. */
    long nanos() {
        return System.nanoTime() - startedAt;
    }

    /** Adds the time of each phase so far, times a sign: what is added after a wait less what was taken before. */
    synchronized void addTo(FetchWaits waits, int sign) {
        enter(phase);
        for (FetchPhase each : PHASES) {
            waits.add(each, sign * nanos[each.ordinal()]);
        }
    }
}
