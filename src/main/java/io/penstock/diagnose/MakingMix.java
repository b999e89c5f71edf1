package io.penstock.diagnose;

import io.penstock.loader.BatchAccount;
import java.util.List;

/**
 * What making a batch was spent on, as shares by cause: what its stages took, and what a thread that stood still was
 * waiting for.
 *
 * <p>A stage's time is wall time. The time that the thread did not run is taken from the stages so, in this order:
 * a pause of the JVM belongs to {@link Cause#GC} and is left out; in a read it is {@link Cause#READ_BLOCKED}; in
 * collating it is that too, if storage gave bytes or a page fault had to wait meanwhile; of the rest, the share of
 * involuntary among all context switches is {@link Cause#CPU}. What remains is the stage's own, for a decoder that
 * sleeps is a slow decoder; but in collating it is a read again: a thread that copies samples waits of its own will for
 * their bytes alone, and file systems without a block device do not count what they give.
 */
final class MakingMix {

    /** By cause; of no unit, since only their relation matters. */
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

    /** Of the time that making batches takes, what their threads could run and had no core. */
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

    static MakingMix of(BatchAccount.Making made, List<Recording.Stretch> pauses) {
        double read = Math.max(0, made.readNanos());
        double decode = Math.max(0, made.decodeNanos());
        double transform = Math.max(0, made.transformNanos());
        double collate = made.collateNanos();
        double paused = Intervals.overlapNanos(pauses, made.plannedAt(), made.madeAt());
        double blocked = Math.max(0, made.blockedNanos() - paused);
        double readBlocked = Math.min(read, blocked);
        double rest = blocked - readBlocked;
        double faulted = 0;
        double contended = 0;
        BatchAccount.Usage usage = made.usage();
        if (usage != null) {
            if (usage.diskBytes() > 0 || usage.majorFaults() > 0) {
                faulted = Math.min(collate, rest);
                rest -= faulted;
            }
            long switches = usage.voluntarySwitches() + usage.involuntarySwitches();
            contended = switches == 0 ? 0 : rest * usage.involuntarySwitches() / switches;
        }
        double waited = Math.max(0, rest - contended - decode - transform);
        faulted += Math.min(collate - faulted, waited);
        double stages = collate - faulted + decode + transform;
        double kept = stages <= 0 ? 1 : Math.max(0, 1 - contended / stages);
        var making = new MakingMix();
        making.add(Cause.READ_BLOCKED, readBlocked + faulted);
        making.add(Cause.READ_CPU, read - readBlocked);
        making.add(Cause.DECODE, decode * kept);
        making.add(Cause.TRANSFORM, transform * kept);
        making.add(Cause.COLLATE, (collate - faulted) * kept);
        making.add(Cause.CPU, Math.min(contended, stages));
        return making;
    }
}
