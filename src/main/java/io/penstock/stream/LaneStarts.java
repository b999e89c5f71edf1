// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.sampling.Sampler.LaneState;
import io.penstock.sampling.Shard;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Where each lane of a stream begins in a run: at what a saved state says of it, or at the start. */
final class LaneStarts {

    private final String name;
    private final int lanes;
    private final int windowSize;
    private final int partitions;
    private final long place;
    private final List<LaneState> states;
    private final int turn;

    /**
     * Begins at a place.
     *
     * @param name the stream's, for messages
     * @param states of the lanes that the saved state knows; empty at the start
     * @param place of the stream's first record in the run
     * @throws IllegalArgumentException if the states are not of one place
     */
    LaneStarts(String name, int lanes, int windowSize, int partitions, List<LaneState> states, long place) {
        this.name = name;
        this.lanes = lanes;
        this.windowSize = windowSize;
        this.partitions = partitions;
        this.place = place;
        this.states = states.stream().map(of -> of.place() == LaneState.BY_POSITION ? inTurn(of, lanes, place) : of)
                .toList();
        this.turn = findTurn();
    }

    /** Whether every rank reads all lanes. */
    static boolean areShared(int lanes, Shard shard) {
        return lanes == 1 || shard.worldSize() == 1;
    }

    /** How many places of a lane precede a place of the stream, and how many come before its next, by turns alone. */
    static LaneState inTurn(LaneState of, int lanes, long place) {
        return of.at((place - of.lane() + lanes - 1) / lanes, (int) Math.floorMod(of.lane() - place, (long) lanes));
    }

    private int findTurn() {
        if (states.isEmpty()) {
            return 0;
        }
        int first = Math.floorMod(states.getFirst().lane() - states.getFirst().after(), lanes);
        long places = states.stream().mapToLong(LaneState::place).sum();
        if (states.stream().anyMatch(of -> of.after() >= lanes || Math.floorMod(of.lane() - of.after(), lanes) != first)
                || states.size() == lanes && places != place) {
            throw new IllegalArgumentException(name + ": found " + states + " for record " + place
                    + ", expected as many places of all lanes, and one lane whose turn it is");
        }
        return first;
    }

    /** The lane whose turn it is. */
    int turn() {
        return turn;
    }

    /** The lanes of the positions that a rank takes; an epoch may have a number of records. */
    List<Integer> lanesOf(Shard shard, boolean isEndless) {
        int ranks = shard.worldSize();
        if (areShared(lanes, shard)) {
            return IntStream.range(0, lanes).boxed().toList();
        }
        if (lanes % ranks != 0 || !isEndless && place % ranks != 0) {
            throw new IllegalArgumentException(name + ": found " + ranks + " ranks from record " + place
                    + " on, expected a number that divides the " + lanes + " lanes and the record");
        }
        int first = (turn + shard.rank()) % ranks;
        return IntStream.iterate(first, number -> number < lanes, number -> number + ranks).boxed().toList();
    }

    /** The partitions of a lane, of so many lanes and partitions. */
    static List<Integer> partitionsOf(int lane, int lanes, int partitions) {
        return IntStream.iterate(lane, partition -> partition < partitions, partition -> partition + lanes).boxed()
                .toList();
    }

    /** The state that a lane begins with. */
    LaneState of(int number) {
        int count = partitionsOf(number, lanes, partitions).size();
        if (states.isEmpty()) {
            return new LaneState(number, 0, number, 0, 0, Collections.nCopies(count, ""), "");
        }
        LaneState state = states.stream().filter(lane -> lane.lane() == number).findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name + ": the state has no lane " + number
                        + "; join the states of all ranks"));
        if (state.place() < state.from() || state.place() > state.from() + windowSize
                || state.cursors().size() != count) {
            throw new IllegalArgumentException(name + ": found " + state + ", expected a window of " + windowSize
                    + " records of " + count + " partitions that has its place");
        }
        return state;
    }
}
