// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.telemetry.BatchAccount;
import io.penstock.telemetry.BatchAccount.Copying;
import io.penstock.telemetry.BatchAccount.Making;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Splits each wait of the trainer by what the awaited batch was doing. A pure function of a recording.
 *
 * <p>The times in the batch's account divide its critical path; the part from the trainer's request to its taking the
 * batch counts:
 *
 * <pre>
 *   claimed ── slot ── planned ── made ──────────── submit ── submitted ── on the device ── taken
 *   START   SLOT   PLAN     (mix)     SLOT, HANDOVER     COPY          COPY           HANDOVER
 * </pre>
 *
 * <p>Before it is planned, a batch of a stream waits for its samples; without workers, it does so before it is claimed.
 * Making a batch mixes stages, one sample after another, so that part is split in proportion to the stages' times.
 * Two causes override the path. While the JVM is paused, the pause is the cause. While another worker stalls because
 * complete later batches hold all slots, order is the cause: had one of those batches been delivered instead, neither
 * trainer nor worker would have waited. Every nanosecond has one cause, so causes add up to the wait.
 *
 * <p>Workers that serve several devices start a batch late because they make others: START is then split as making is.
 */
final class Attribution {

    /** Share of making time without a core from which cores count as the bottleneck. */
    static final double CORELESS_SHARE = 0.2;

    private final Recording recording;
    private final List<BatchAccount> accounts;
    /** How far ahead of a batch another may be that waits for a slot meanwhile. */
    private final int reach;
    /** Why the trainer lacks a delivered batch: it wakes up; or, where workers lack cores, it lacks one too. */
    private final Cause late;

    private Attribution(Recording recording) {
        this.recording = recording;
        this.accounts = recording.accounts();
        this.reach = recording.settings().memory().hostSlots() + recording.settings().workers() + 1;
        this.late = MakingMix.shareWithoutCore(recording) >= CORELESS_SHARE ? Cause.CPU : Cause.HANDOVER;
    }

    /** One wait per account, in the same order. */
    static List<Wait> of(Recording recording) {
        var attribution = new Attribution(recording);
        return IntStream.range(0, recording.accounts().size()).mapToObj(attribution::wait).toList();
    }

    private Wait wait(int index) {
        BatchAccount account = accounts.get(index);
        long begin = account.taking().requestedAt();
        long end = account.taking().takenAt();
        var split = new Split(begin, end);
        if (split.nanos() >= Wait.MIN_NANOS) {
            cutPath(account, index, split);
        } else {
            split.until(end, Cause.HANDOVER);
        }
        return new Wait(split.nanos(), split.byCause, split.orderedBehind);
    }

    private void cutPath(BatchAccount account, int index, Split split) {
        Making made = account.making();
        split.pauses = recording.pauses();
        split.ordered = stalledByOrder(index);
        boolean isInline = recording.settings().workers() == 0;
        if (isInline) {
            source(split, made, split.begin, made.claimedAt());
        }
        if (recording.settings().devices() > 1) {       // the workers were making other devices' batches
            split.until(made.claimedAt(), MakingMix.of(made, recording.pauses()));
        } else {
            split.until(made.claimedAt(), Cause.START);
        }
        split.until(made.slotAt(), Cause.SLOT);
        if (!isInline) {
            source(split, made, made.slotAt(), made.plannedAt());
        }
        split.until(made.plannedAt(), Cause.PLAN);
        split.until(made.madeAt(), MakingMix.of(made, recording.pauses()));
        split.ordered = List.of();
        Copying copied = account.copying();
        if (copied != null) {
            split.until(Math.min(copied.submitAt(), deviceSlotFreeAt(index)), Cause.SLOT);
            split.until(copied.submitAt(), late);
            split.until(copied.submittedAt(), Cause.COPY);
            split.until(arrivedAt(account, copied), Cause.COPY);
        }
        split.until(split.end, late);
    }

    private static void source(Split split, Making made, long from, long to) {
        split.until(Math.min(to, from + made.sourceEmptyNanos()), Cause.SOURCE_EMPTY);
        split.until(Math.min(to, from + made.sourceNanos()), Cause.SOURCE_SLOW);
    }

    /** When the trainer's thread stops waiting for the bytes; if it passed a stream, the stream waits instead. */
    private static long arrivedAt(BatchAccount account, Copying copied) {
        if (hasStream(account)) {
            return copied.submittedAt();
        }
        return copied.arrivedAt() >= 0 ? copied.arrivedAt() : account.taking().takenAt();
    }

    /** Whether the trainer is known to have passed a stream. */
    static boolean hasStream(BatchAccount account) {
        return account.onDevice() != null && account.onDevice().exposedNanos() >= 0;
    }

    /** When the device slot's previous batch was closed. */
    private long deviceSlotFreeAt(int index) {
        int before = index - recording.settings().memory().deviceSlots();
        return before < 0 ? Long.MIN_VALUE : accounts.get(before).taking().closedAt();
    }

    /** The periods in which another worker waited for a slot while this batch was being made. */
    private List<Recording.Stretch> stalledByOrder(int index) {
        BatchAccount head = accounts.get(index);
        long begin = head.taking().requestedAt();
        long end = head.making().madeAt();
        List<Recording.Stretch> stalled = new ArrayList<>();
        for (int i = index + 1; i < accounts.size() && i <= index + reach && begin < end; i++) {
            Making other = accounts.get(i).making();
            if (other.worker() != head.making().worker()
                    && Intervals.overlapNanos(begin, end, other.claimedAt(), other.slotAt()) > 0) {
                stalled.add(new Recording.Stretch(Math.max(begin, other.claimedAt()), Math.min(end, other.slotAt())));
            }
        }
        return union(stalled);
    }

    private static List<Recording.Stretch> union(List<Recording.Stretch> stretches) {
        if (stretches.size() < 2) {
            return stretches;
        }
        List<Recording.Stretch> sorted = new ArrayList<>(stretches);
        sorted.sort((a, b) -> Long.compare(a.beginAt(), b.beginAt()));
        List<Recording.Stretch> union = new ArrayList<>();
        for (Recording.Stretch next : sorted) {
            if (!union.isEmpty() && next.beginAt() <= union.getLast().endAt()) {
                Recording.Stretch last = union.removeLast();
                union.add(new Recording.Stretch(last.beginAt(), Math.max(last.endAt(), next.endAt())));
            } else {
                union.add(next);
            }
        }
        return union;
    }

    /** Splits a wait: the part before {@code at} has its causes. */
    private static final class Split {

        private static final Cause[] CAUSES = Cause.values();

        private final long begin;
        private final long end;
        private final long[] byCause = new long[CAUSES.length];
        private final long[] orderedBehind = new long[CAUSES.length];
        private List<Recording.Stretch> pauses = List.of();
        private List<Recording.Stretch> ordered = List.of();
        private long at;

        Split(long begin, long end) {
            this.begin = begin;
            this.end = Math.max(begin, end);
            this.at = begin;
        }

        long nanos() {
            return end - begin;
        }

        void until(long time, Cause cause) {
            long[] parts = stretch(time);
            byCause[cause.ordinal()] += parts[0];
            orderedBehind[cause.ordinal()] += parts[1];
        }

        void until(long time, MakingMix mix) {
            long[] parts = stretch(time);
            spread(parts[0], mix, byCause);
            spread(parts[1], mix, orderedBehind);
        }

        /** Advances to a time; returns the path's own part of that period, and order's part. */
        private long[] stretch(long time) {
            long to = Math.clamp(time, at, end);
            long paused = Intervals.overlapNanos(pauses, at, to);
            long behind = Intervals.overlapNanos(ordered, at, to) - pausedWithinOrder(to);
            byCause[Cause.GC.ordinal()] += paused;
            byCause[Cause.ORDER.ordinal()] += behind;
            long[] parts = {to - at - paused - behind, behind};
            at = to;
            return parts;
        }

        private long pausedWithinOrder(long to) {
            return ordered.stream().mapToLong(stretch -> Intervals.overlapNanos(pauses,
                    Math.max(at, stretch.beginAt()), Math.min(to, stretch.endAt()))).sum();
        }

        /** Uses running sums, so that rounding in one part goes to the next. */
        private static void spread(long nanos, MakingMix mix, long[] parts) {
            double sum = 0;
            long given = 0;
            for (Cause cause : CAUSES) {
                sum += nanos * mix.share(cause);
                long upTo = Math.min(nanos, Math.round(sum));
                parts[cause.ordinal()] += upTo - given;
                given = upTo;
            }
            parts[Cause.COLLATE.ordinal()] += nanos - given;
        }
    }
}
