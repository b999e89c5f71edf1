// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.cache;

import io.penstock.io.FetchWaits;
import io.penstock.io.FetchWaits.FetchPhase;
import java.util.concurrent.CompletableFuture;

/** A block on its way into the cache, and how long it has been in each phase. Thread-safe. */
final class Fetch {

    private static final FetchPhase[] PHASES = FetchPhase.values();

    /** Done when the block is in the cache, or cannot be. */
    final CompletableFuture<Void> done = new CompletableFuture<>();
    /** The room in the cache that the fetch already has; 0 if it must make room. */
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

    /** Returns the time since the fetch was started. */
    long nanos() {
        return System.nanoTime() - startedAt;
    }

    /** Adds the time of each phase so far, times a sign: -1 before a wait and 1 after it add the time of the wait. */
    synchronized void addTo(FetchWaits waits, int sign) {
        enter(phase);
        for (FetchPhase each : PHASES) {
            waits.add(each, sign * nanos[each.ordinal()]);
        }
    }
}
