// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.stream.PartitionReader.Found;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Merges partitions by turns, one record each. A partition that has ended passes its turn on; one that has nothing yet
 * is waited for, or, in live order, put aside after a while. For one thread.
 */
final class Turns {

    private final List<PartitionReader> partitions;
    private final boolean[] ended;
    /** Which partitions are aside; null in strict order. */
    private final @Nullable TurnLog log;
    private int turn;
    /** The turn behind the latest record, before it was passed on. */
    private int turnBehind;

    /** Merges a list of so many partitions, which may be filled later. */
    Turns(List<PartitionReader> partitions, int count, int turn, @Nullable TurnLog log) {
        this.partitions = partitions;
        this.ended = new boolean[count];
        this.turn = turn;
        this.turnBehind = turn;
        this.log = log;
    }

    /**
     * Reads the next record.
     *
     * @return {@code NOTHING_YET} if there is none now, {@code END} if all partitions have ended
     */
    Found next(RecordBuffer into) throws IOException {
        TurnLog live = log;
        if (live != null) {
            live.before(into.count());
        }
        for (int passed = 0; passed < ended.length; passed++) {
            if (!ended[turn] && (live == null || live.asks(turn))) {
                switch (partitions.get(turn).poll(into)) {
                    case RECORD -> {
                        if (live != null) {
                            live.gave(turn);
                        }
                        turn = (turn + 1) % ended.length;
                        turnBehind = turn;
                        return Found.RECORD;
                    }
                    case NOTHING_YET -> {
                        if (live == null || !live.passes(turn)) {
                            return Found.NOTHING_YET;
                        }
                    }
                    case END -> ended[turn] = true;
                }
            }
            turn = (turn + 1) % ended.length;
        }
        if (live != null) {
            live.idle();
        }
        return haveEnded() ? Found.END : Found.NOTHING_YET;
    }

    boolean haveEnded() {
        for (boolean flag : ended) {
            if (!flag) {
                return false;
            }
        }
        return true;
    }

    /** The turn behind the latest record. */
    int turn() {
        return turnBehind;
    }
}
