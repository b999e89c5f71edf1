// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.util.List;

/** The order of a stream, whose records arrive one after the other. What edits need to know of it is computed. */
public interface ArrivingSampler extends Sampler {

    /**
     * {@return the place in the whole stream of a record, if it is in a full window and no lane has ended before}
     *
     * @param sample the record's index
     */
    long placeOf(long sample);

    /** {@return the weights of the sources that the stream mixes; empty if it mixes none} */
    List<Double> weights();

    /**
     * {@return the first place of the whole stream before which a run has read all records that it has to read again}
     *
     * @param place where the run is
     * @param lanes where its lanes are; empty at the start
     */
    long unreadFrom(long place, List<LaneState> lanes);
}
