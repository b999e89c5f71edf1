// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.sampling.Permutation;
import io.penstock.sampling.Sampler.LaneState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive records of a lane, which are shuffled among themselves. Filled by one thread; read by any once it is
 * complete.
 */
final class Window implements AutoCloseable {

    final RecordBuffer records = new RecordBuffer();
    private LaneState start = new LaneState(0, 0, 0, List.of(""), "");
    /** The same with the window's log. */
    private LaneState logged = start;
    private @Nullable Permutation order;

    void begin(LaneState at) {
        start = at;
        logged = at;
        order = null;
        records.clear();
    }

    /** Says which partitions were aside or had ended. */
    void log(String turns) {
        logged = new LaneState(start.lane(), start.from(), start.turn(), start.cursors(), turns);
    }

    /** Gives the records another order. */
    void shuffle(Permutation places) {
        order = places;
    }

    /** Where to read the window again so that a place of it comes next: as it was, unless nothing of it was given. */
    LaneState state(long place) {
        return place == start.from() ? start : logged;
    }

    /** The number, in the lane, of its first record, and of the first behind it. */
    long from() {
        return start.from();
    }

    long to() {
        return start.from() + records.count();
    }

    /** The record at a place of the lane's order. */
    long recordAt(long place) {
        return order == null ? place : from() + order.at(place - from());
    }

    @Override
    public void close() {
        records.close();
    }
}
