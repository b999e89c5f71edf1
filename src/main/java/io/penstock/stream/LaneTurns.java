// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.util.Arrays;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Which lane gives which place of a stream: by turns one record of each lane that has not ended. Where a lane ends, the
 * others go on without it, so the places are cut into stretches within which the lanes stay the same.
 *
 * <p>The lock of {@link StreamBuffer} guards changes. Any thread reads.
 */
final class LaneTurns {

    /**
     * Place {@code from + i} is of lane {@code lanes[i mod n]}, whose record in order has the number
     * {@code next[i mod n] + i div n}; {@code n} is the number of lanes. {@code turns} has the index of each lane in
     * {@code lanes}, or -1 if it had ended.
     */
    private record Stretch(long from, int[] lanes, long[] next, int[] turns) {

        static Stretch of(long from, int[] lanes, long[] next, int count) {
            int[] turns = new int[count];
            Arrays.fill(turns, -1);
            for (int turn = 0; turn < lanes.length; turn++) {
                turns[lanes[turn]] = turn;
            }
            return new Stretch(from, lanes, next, turns);
        }

        long placeOf(int turn, long inLane) {
            return from + turn + (inLane - next[turn]) * lanes.length;
        }

        /** How many places of a lane precede a place of the stream. */
        long before(long place, int turn) {
            return next[turn] + (place - from + lanes.length - 1 - turn) / lanes.length;
        }

        /** The same lanes but for one, from the place on at which that one has no record. */
        Stretch without(int ended, long place) {
            int[] others = new int[lanes.length - 1];
            long[] following = new long[others.length];
            for (int i = 0; i < others.length; i++) {
                int turn = (ended + 1 + i) % lanes.length;
                others[i] = lanes[turn];
                following[i] = before(place, turn);
            }
            return of(place, others, following, turns.length);
        }
    }

    private final int count;
    private final IntFunction<@Nullable Lane> lane;
    /** Whether all lanes are read here. */
    private final boolean knowsAll;
    private final long start;
    /** The lane whose turn it is at the start, if none has ended. */
    private final int startTurn;
    private volatile Stretch[] stretches;
    /** All places before this one have records. */
    private volatile long end;
    /** The lane that has no record for the place {@link #end}; null if none is left. */
    private volatile @Nullable Lane lacking;

    /**
     * Begins at a place.
     *
     * @param turn the lane that gives the place, unless it has ended
     * @param count the number of lanes
     * @param next how many places of each lane precede it
     * @param lane those that are read here; null for another
     */
    LaneTurns(long place, int turn, int count, long[] next, IntFunction<@Nullable Lane> lane) {
        this.count = count;
        this.lane = lane;
        this.start = place;
        this.startTurn = turn;
        int[] lanes = new int[count];
        long[] following = new long[count];
        boolean areAll = true;
        for (int i = 0; i < count; i++) {
            lanes[i] = (turn + i) % count;
            following[i] = next[lanes[i]];
            areAll &= lane.apply(lanes[i]) != null;
        }
        knowsAll = areAll;
        stretches = new Stretch[] {Stretch.of(place, lanes, following, count)};
        end = place;
        update();
    }

    /** Called when lanes have more records, or have ended. Behind the lock. */
    void update() {
        while (true) {
            Stretch last = last();
            Lane least = null;
            int leastTurn = 0;
            long leastPlace = Long.MAX_VALUE;
            for (int turn = 0; turn < last.lanes.length; turn++) {
                Lane read = lane.apply(last.lanes[turn]);
                if (read != null && last.placeOf(turn, read.end()) < leastPlace) {
                    least = read;
                    leastTurn = turn;
                    leastPlace = last.placeOf(turn, read.end());
                }
            }
            lacking = least;
            if (least == null) {
                end = last.from;
                return;
            }
            end = leastPlace;
            if (!least.isOver() || !knowsAll) {
                return;
            }
            Stretch[] more = Arrays.copyOf(stretches, stretches.length + 1);
            more[stretches.length] = last.without(leastTurn, leastPlace);
            stretches = more;
        }
    }

    private Stretch last() {
        Stretch[] all = stretches;
        return all[all.length - 1];
    }

    /** The stretch that has a place. */
    private Stretch stretch(long place) {
        Stretch[] all = stretches;
        int at = all.length - 1;
        while (at > 0 && place < all[at].from) {
            at--;
        }
        return all[at];
    }

    /** The place that all records are there before. */
    long end() {
        return end;
    }

    /** Whether no record follows {@link #end}. */
    boolean isOver() {
        return lacking == null;
    }

    /** Whether the lane that gives the place {@link #end} has nothing now. */
    boolean isStarved() {
        Lane waited = lacking;
        return waited != null && waited.isStarved();
    }

    /** Whether what follows {@link #end} cannot be known here: a lane has ended, and others are read elsewhere. */
    boolean isUnknown() {
        Lane waited = lacking;
        return !knowsAll && waited != null && waited.isOver();
    }

    /** The lane that has no record for the place {@link #end}. */
    int lackingLane() {
        return Objects.requireNonNull(lacking).number();
    }

    /** Forgets where lanes have ended, but for what the places from one on need. Behind the lock. */
    void release(long place) {
        Stretch[] all = stretches;
        int done = 0;
        while (done + 1 < all.length && all[done + 1].from < place) {
            done++;
        }
        if (done > 0) {
            stretches = Arrays.copyOfRange(all, done, all.length);
        }
    }

    /** The lane of a place that is there. */
    int laneAt(long place) {
        Stretch of = stretch(place);
        return of.lanes[(int) ((place - of.from) % of.lanes.length)];
    }

    /** The number of a place that is there in its lane. */
    long inLane(long place) {
        Stretch of = stretch(place);
        long turns = place - of.from;
        return of.next[(int) (turns % of.lanes.length)] + turns / of.lanes.length;
    }

    /** How many places of a lane precede a place of the stream, if no lane ends from {@link #end} on. */
    long before(long place, int number) {
        Stretch of = stretch(place);
        int turn = of.turns[number];
        return turn < 0 ? Objects.requireNonNull(lane.apply(number)).end() : of.before(place, turn);
    }

    /** The lane whose turn it is at a place, whether it has ended or not: it is behind that of the place before. */
    int turnAt(long place) {
        return place == start ? startTurn : (laneAt(place - 1) + 1) % count;
    }
}
