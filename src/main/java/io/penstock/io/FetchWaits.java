// SPDX-License-Identifier: Apache-2.0
package io.penstock.io;

import java.util.Arrays;

/** What one thread has read of remote files, and how long it has waited for that, by what it waited for. For it. */
public final class FetchWaits {

    private final long[] nanos = new long[FetchPhase.values().length];
    private long reads;
    private long waitingReads;
    private long readBytes;

    /** No reads so far. */
    public FetchWaits() {
    }

    /**
     * Adds to the time of a phase.
     *
     * @param phase the phase
     * @param added nanoseconds; negative to take back
     */
    public void add(FetchPhase phase, long added) {
        nanos[phase.ordinal()] += added;
    }

    /**
     * {@return the time of a phase so far, in nanoseconds}
     *
     * @param phase the phase
     */
    public long nanos(FetchPhase phase) {
        return nanos[phase.ordinal()];
    }

    /**
     * Counts a read.
     *
     * @param bytes its bytes
     * @param isMissing 1 if it has to wait for some of them, otherwise 0
     */
    public void read(long bytes, int isMissing) {
        reads++;
        waitingReads += isMissing;
        readBytes += bytes;
    }

    /**
     * Counts reads that do not wait.
     *
     * @param count how many
     * @param bytes their bytes
     */
    public void readPresent(long count, long bytes) {
        reads += count;
        readBytes += bytes;
    }

    /** {@return how many reads there were} */
    public long reads() {
        return reads;
    }

    /** {@return how many of them had to wait} */
    public long waitingReads() {
        return waitingReads;
    }

    /** {@return their bytes} */
    public long readBytes() {
        return readBytes;
    }

    /** Forgets everything. */
    public void reset() {
        if (reads > 0) {
            Arrays.fill(nanos, 0);
            reads = 0;
            waitingReads = 0;
            readBytes = 0;
        }
    }

    /** What a fetch of remote bytes is waiting for. */
    public enum FetchPhase {
        /** Another process, which fetches the same bytes. */
        LOCK,
        /** Earlier requests: as many are under way as may be. */
        QUEUE,
        /** The first byte of the server's answer. */
        FIRST_BYTE,
        /** The rest of the answer, until it is stored and checked. */
        TRANSFER,
        /** The next attempt, after one that failed. */
        RETRY
    }
}
