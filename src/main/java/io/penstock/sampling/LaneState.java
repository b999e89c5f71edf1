// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.List;
import java.util.Objects;

/**
 * Where a run over a stream continues in one of its lanes: at the start of its current shuffle window. A lane is a
 * group of the stream's partitions that is read independently of the others.
 *
 * @param lane the lane's number, from 0
 * @param place how many of the lane's places precede the state's position; {@link #BY_POSITION} if that follows from
 *     the position, because no lane has ended yet
 * @param after how many places from the state's position on come before the lane's next one, if no lane ends; 0 if
 *     that follows from the position
 * @param from how many records of the lane precede the window
 * @param turn the partition of the lane whose record is the window's first, from 0
 * @param cursors where each partition of the lane continues, in the source's own words; empty before a run has read
 *     anything
 * @param log which partitions had ended in the window, and if the stream is live, which were set aside; empty if none
 */
public record LaneState(int lane, long place, int after, long from, int turn, List<String> cursors, String log) {

    /** In place of a number of places: the lanes have taken turns so far. */
    public static final long BY_POSITION = -1;

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if one is negative, or there is no such partition
     */
    public LaneState {
        cursors = List.copyOf(cursors);
        Objects.requireNonNull(log, "log");
        if (lane < 0 || place < BY_POSITION || after < 0 || from < 0 || from > Sampler.MAX_SIZE || turn < 0
                || turn >= cursors.size()) {
            throw new IllegalArgumentException("lane " + lane + " at place " + place + " after " + after
                    + " others, from record " + from + ", turn " + turn + " of " + cursors.size() + " partitions");
        }
    }

    /**
     * A window of a lane whose place follows from the position.
     *
     * @param lane the lane's number, from 0
     * @param from how many records of the lane precede the window
     * @param turn the partition of the lane whose record is the window's first, from 0
     * @param cursors where each partition of the lane continues
     * @param log the turn log; empty if none
     * @throws IllegalArgumentException if a number is negative, or there is no such partition
     */
    public LaneState(int lane, long from, int turn, List<String> cursors, String log) {
        this(lane, BY_POSITION, 0, from, turn, cursors, log);
    }

    /**
     * {@return the same window for another position}
     *
     * @param newPlace how many of the lane's places precede it
     * @param newAfter how many places from it on come before the lane's next one
     */
    public LaneState at(long newPlace, int newAfter) {
        return new LaneState(lane, newPlace, newAfter, from, turn, cursors, log);
    }
}
