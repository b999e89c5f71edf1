// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.error.PenstockException;

/**
 * A lane of a stream has ended, and other ranks, which read other lanes, cannot know it. All batches before it were
 * given; the loader's state is behind them.
 */
public final class LaneEndException extends PenstockException {

    private static final long serialVersionUID = 1;

    /** The lane's number, from 0. */
    private final int lane;
    /** The record of the stream, from 0, at which it ended. */
    private final long record;

    LaneEndException(String stream, int lane, long record) {
        super(stream + ": " + what(lane, record) + ": set epochRecords and the loader's endEpoch to what all lanes"
                + " have, or use one lane, so that every rank reads everything", null);
        this.lane = lane;
        this.record = record;
    }

    private static String what(int lane, long record) {
        return "lane " + lane + " has ended at record " + record + " of the stream, which ranks that read other lanes"
                + " cannot know";
    }

    /** {@return what has ended and where, as a clause without what to do about it} */
    public String what() {
        return what(lane, record);
    }
}
