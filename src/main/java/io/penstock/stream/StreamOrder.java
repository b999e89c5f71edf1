// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.sampling.Order;
import io.penstock.sampling.Sampler;
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
 * @param index the index of the record at a place of the whole stream that is in memory
 */
record StreamOrder(int window, int lanes, long records, boolean isShuffled, long seed, long patienceNanos,
        LongSupplier nanoTime, LongUnaryOperator index) implements Sampler {

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
