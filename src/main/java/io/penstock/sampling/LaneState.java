// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.List;
import java.util.Objects;

/**
 * Where a run over a stream continues in one of its lanes: at the start of its current shuffle window. A lane is a
 * group of the stream's partitions that is read independently of the others.
 *
 * @param lane the lane's number, from 0
 * @param from how many records of the lane precede the window
 * @param turn the partition of the lane whose record is the window's first, from 0
 * @param cursors where each partition of the lane continues, in the source's own words; empty before a run has read
 *     anything
 * @param log which partitions had ended in the window, and if the stream is live, which were set aside; empty if none
 */
public record LaneState(int lane, long from, int turn, List<String> cursors, String log) {

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if one is negative, or there is no such partition
     */
    public LaneState {
        cursors = List.copyOf(cursors);
        Objects.requireNonNull(log, "log");
        if (lane < 0 || from < 0 || from > Positions.MAX_SIZE || turn < 0 || turn >= cursors.size()) {
            throw new IllegalArgumentException("lane " + lane + " from record " + from + ", turn " + turn + " of "
                    + cursors.size() + " partitions");
        }
    }
}
