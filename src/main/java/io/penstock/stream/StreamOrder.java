// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.sampling.Order;
import io.penstock.sampling.Permutation;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Sampler.LaneState;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;

/**
 * The order of a stream: by turns one record of each lane that has not ended; in a lane, window by window, each
 * shuffled or not. Record {@code n} of lane {@code l} of {@code L} has the index {@code n·L + l}.
 *
 * @param window records of a window
 * @param lanes the number of lanes
 * @param records in an epoch
 * @param isShuffled whether windows are shuffled
 * @param patienceNanos how long a silent partition is waited for; negative for ever
 * @param nanoTime the clock of that
 * @param weights of the sources that are mixed; empty if none are
 * @param index the index of the record at a place of the whole stream that is in memory
 */
record StreamOrder(int window, int lanes, long records, boolean isShuffled, long seed, long patienceNanos,
        LongSupplier nanoTime, List<Double> weights, LongUnaryOperator index) implements Sampler.Arriving {

    /** The records of a stream, as far as anybody counts. */
    static final long ENDLESS = 1L << 62;

    @Override
    public long size() {
        return records;
    }

    @Override
    public long datasetSize() {
        return ENDLESS;
    }

    @Override
    public long epochs() {
        return ENDLESS / records;
    }

    boolean isLive() {
        return patienceNanos >= 0;
    }

    /** The place of a position in the whole stream. */
    long place(long epoch, long position) {
        return epoch * records + position;
    }

    @Override
    public long placeOf(long sample) {
        long lane = sample % lanes;
        long record = sample / lanes;
        if (isShuffled) {
            long from = record - record % window;
            record = from + windowOrder(window, from, lane).positionOf(record - from);
        }
        return record * lanes + lane;
    }

    /** The order of a window of so many records from one of a lane on. */
    Permutation windowOrder(long count, long from, long lane) {
        return new Permutation(count, seed, from * lanes + lane);
    }

    @Override
    public long unreadFrom(long place, List<LaneState> at) {
        long most = at.isEmpty() ? Math.ceilDiv(place, (long) lanes) : 0;
        for (LaneState lane : at) {
            long given = lane.place() == LaneState.BY_POSITION ? LaneStarts.inTurn(lane, lanes, place).place()
                    : lane.place();
            most = Math.max(most, given == lane.from() ? given : isShuffled ? lane.from() + window
                    : Math.max(given, lane.from() + TurnLog.covered(lane.log())));
        }
        return most * lanes;
    }

    @Override
    public Order epoch(long epoch) {
        return new Order() {
            @Override
            public long size() {
                return records;
            }

            @Override
            public long at(long position) {
                return index.applyAsLong(place(epoch, position));
            }
        };
    }

    @Override
    public String fingerprint() {
        return "stream" + (isLive() ? " live" : "") + (isShuffled ? " window=" + window + " seed=" + seed : "")
                + " lanes=" + lanes + (records == ENDLESS ? "" : " epoch=" + records);
    }
}
