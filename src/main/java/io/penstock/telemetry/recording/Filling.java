// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Download;
import java.util.List;

/**
 * A batch in the making. The thread that makes it writes it alone, reuses it for every batch, and lends it to the
 * {@linkplain LoaderProbe probe} for the duration of a call. Times are by the loader's clock.
 */
public final class Filling {

    /** The sequence that means nothing is left to make. */
    public static final long NOTHING = -1;

    public final int worker;
    /** The batch's number since the loader opened, from 0. */
    public long sequence = NOTHING;
    /** When the thread started the batch. */
    public long claimedAt;
    /** When the batch's slot was free. */
    public long slotAt;
    /** When the batch's samples were known; {@link #slotAt} if that failed. */
    public long plannedAt;
    /** When the batch was complete. */
    public long madeAt;
    /** The epoch of its samples. */
    public long epoch;
    /** Whether it is the first of its epoch, or the first after the loader was opened or moved. */
    public boolean first;
    /** Number of samples. */
    public int samples;
    /** Bytes in its slot. */
    public long bytes;
    /** Time within planned to made spent reading. */
    public long readNanos;
    /** Time within planned to made spent decoding. */
    public long decodeNanos;
    /** Time within planned to made spent in sample maps. */
    public long transformNanos;
    /** Time within slot to planned in which the source of the samples had nothing. */
    public long sourceEmptyNanos;
    /** Time within slot to planned in which it had more than was read. */
    public long sourceSlowNanos;
    /** The names of the parts of decoding and of sample maps. */
    public List<String> parts = List.of();
    /** Time within planned to made spent in each part; the thread's own array, which it writes again. */
    public long[] partNanos = {};

    /** Reads of remote files; if 0, the fields up to {@link #downloadNanos} are meaningless. */
    public long remoteReads;
    /** Those that had to wait. */
    public long waitingReads;
    /** Their bytes. */
    public long remoteBytes;
    /** Time within planned to made spent waiting for remote bytes, in the order of {@link Download}'s components. */
    public final long[] downloadNanos = new long[Download.PARTS];

    /** Whether the batch has an account; set by the accounts, like all fields below. */
    boolean kept;
    /** CPU time within planned to made; if NOT_MEASURED, the fields below were not measured either. */
    long cpuNanos = BatchAccount.NOT_MEASURED;
    long diskBytes;
    long majorFaults;
    long voluntarySwitches;
    long involuntarySwitches;
    /** May be NOT_MEASURED by itself. */
    long queuedNanos;

    public Filling(int worker) {
        this.worker = worker;
    }

    /** Returns the time from slot to planned, without waiting for samples of a stream. */
    long planNanos() {
        return Math.max(0, plannedAt - slotAt - sourceEmptyNanos - sourceSlowNanos);
    }
}
