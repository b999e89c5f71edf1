// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.telemetry.BatchAccount;
import java.util.List;

/**
 * How the time of making a batch divides into causes: the stages' times, and what a blocked thread was waiting for.
 *
 * <p>A stage's time is wall time. The time that the thread did not run is taken out of the stages in this order. A JVM
 * pause belongs to {@link Cause#GC} and is left out. Waiting for remote bytes, which was measured, is
 * {@link Cause#DOWNLOAD}; it was in reading or, of samples that are copied as stored, in collating. Waiting for a core
 * is {@link Cause#CPU}. In reading, the rest is
 * {@link Cause#READ_BLOCKED}; in collating too, because a thread that copies samples blocks voluntarily only for their
 * bytes. What remains belongs to the stage: a decoder that sleeps is a slow decoder.
 *
 * <p>If the system does not report how long the thread waited for a core, the share of involuntary context switches
 * stands in for it, applied to the time not spent on storage: a coarse measure.
 */
final class MakingMix {

    /** By cause; without unit, because only ratios matter. */
    private final double[] weights = new double[Cause.values().length];
    private double total;

    private void add(Cause cause, double nanos) {
        if (nanos > 0) {
            weights[cause.ordinal()] += nanos;
            total += nanos;
        }
    }

    double share(Cause cause) {
        return total > 0 ? weights[cause.ordinal()] / total : cause == Cause.COLLATE ? 1 : 0;
    }

    /** The share of making time in which threads were runnable but had no core. */
    static double shareWithoutCore(Recording recording) {
        double without = 0;
        double all = 0;
        for (BatchAccount account : recording.accounts()) {
            BatchAccount.Making made = account.making();
            if (made.usage() != null) {
                double nanos = made.madeAt() - made.plannedAt();
                without += nanos * of(made, recording.pauses()).share(Cause.CPU);
                all += nanos;
            }
        }
        return all == 0 ? 0 : without / all;
    }

    /** The part of the thread's idle time in which it was runnable. */
    private static double contended(BatchAccount.Usage usage, double blocked, double reading) {
        if (usage.queuedNanos() >= 0) {
            return Math.min(blocked, usage.queuedNanos());
        }
        long switches = usage.voluntarySwitches() + usage.involuntarySwitches();
        boolean stored = usage.diskBytes() > 0 || usage.majorFaults() > 0;
        double elsewhere = stored ? Math.max(0, blocked - reading) : blocked;
        return switches == 0 ? 0 : elsewhere * usage.involuntarySwitches() / switches;
    }

    static MakingMix of(BatchAccount.Making made, List<Recording.Stretch> pauses) {
        double read = Math.max(0, made.readNanos());
        double decode = Math.max(0, made.decodeNanos());
        double transform = Math.max(0, made.transformNanos());
        double collate = made.collateNanos();
        double download = Math.min(made.download() == null ? 0 : made.download().nanos(), read + collate);
        double inReading = Math.min(read, download);
        read -= inReading;
        collate -= download - inReading;
        double paused = Intervals.overlapNanos(pauses, made.plannedAt(), made.madeAt());
        double blocked = Math.max(0, made.blockedNanos() - paused - download);
        double contended = made.usage() == null ? 0 : contended(made.usage(), blocked, read + collate);
        double rest = blocked - contended;
        double readBlocked = Math.min(read, rest);
        rest -= readBlocked;
        boolean stored = made.usage() != null && (made.usage().diskBytes() > 0 || made.usage().majorFaults() > 0);
        double fetched = Math.min(collate, stored ? rest : Math.max(0, rest - decode - transform));
        double ran = read - readBlocked + decode + transform + collate - fetched;
        double kept = ran <= 0 ? 1 : Math.max(0, 1 - contended / ran);
        var making = new MakingMix();
        making.add(Cause.DOWNLOAD, download);
        making.add(Cause.READ_BLOCKED, readBlocked + fetched);
        making.add(Cause.READ_CPU, (read - readBlocked) * kept);
        making.add(Cause.DECODE, decode * kept);
        making.add(Cause.TRANSFORM, transform * kept);
        making.add(Cause.COLLATE, (collate - fetched) * kept);
        making.add(Cause.CPU, Math.min(contended, ran));
        return making;
    }
}
