// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.os.ThreadUsage;
import io.penstock.telemetry.BatchAccount;

/**
 * Asks the operating system what one thread used for the batches it makes: for every batch where that cost is
 * negligible, else for one in {@value #ASK_EVERY}.
 */
final class UsageMeter implements AutoCloseable {

    /** From here on, a batch takes a hundred times as long as the question. */
    static final long ASK_NANOS = 100_000;
    static final int ASK_EVERY = 16;

    /** From here on, it takes a hundred times as long as asking for the time that the thread was queued. */
    static final long ASK_QUEUE_NANOS = 400_000;

    private final ThreadUsage usage = new ThreadUsage();
    private final boolean asks;
    private boolean asked;
    private int notAsked = ASK_EVERY;
    private long lastNanos;
    private long cpuNanos;
    private long diskBytes;
    private long majorFaults;
    private long voluntarySwitches;
    private long involuntarySwitches;
    private long queuedNanos;

    /** Asks only if accounts use the operating system's clock. */
    UsageMeter(boolean asks) {
        this.asks = asks && ThreadUsage.AVAILABLE;
    }

    /** Samples are about to be read. */
    void begin(Filling batch) {
        asked = batch.kept && asks && (lastNanos >= ASK_NANOS || ++notAsked >= ASK_EVERY);
        if (asked) {
            notAsked = 0;
            usage.read();
            cpuNanos = usage.cpuNanos();
            diskBytes = usage.diskBytes();
            majorFaults = usage.majorFaults();
            voluntarySwitches = usage.voluntarySwitches();
            involuntarySwitches = usage.involuntarySwitches();
            queuedNanos = lastNanos >= ASK_QUEUE_NANOS ? usage.queuedNanos() : BatchAccount.NOT_MEASURED;
        }
    }

    /** The batch is complete: stores what it used. */
    void end(Filling batch) {
        if (batch.kept) {
            lastNanos = batch.madeAt - batch.plannedAt;
        }
        if (!asked) {
            batch.cpuNanos = BatchAccount.NOT_MEASURED;
            return;
        }
        asked = false;
        usage.read();
        batch.cpuNanos = usage.cpuNanos() - cpuNanos;
        batch.diskBytes = usage.diskBytes() - diskBytes;
        batch.majorFaults = usage.majorFaults() - majorFaults;
        batch.voluntarySwitches = usage.voluntarySwitches() - voluntarySwitches;
        batch.involuntarySwitches = usage.involuntarySwitches() - involuntarySwitches;
        batch.queuedNanos = queuedNanos < 0 ? BatchAccount.NOT_MEASURED : usage.queuedNanos() - queuedNanos;
    }

    @Override
    public void close() {
        usage.close();
    }
}
