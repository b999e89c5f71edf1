// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.stream.PartitionReader.Found;
import java.io.IOException;
import java.util.List;

/**
 * Merges partitions by turns, one record each. A partition that has ended passes its turn on; one that has nothing yet
 * is waited for, or, in live order, put aside after a while. For one thread.
 */
final class Turns {

    private final List<PartitionReader> partitions;
    private final int count;
    private final TurnLog log;
    private int turn;
    /** The turn behind the latest record, before it was passed on. */
    private int turnBehind;

    /** Merges a list of so many partitions, which may be filled later. */
    Turns(List<PartitionReader> partitions, int count, int turn, TurnLog log) {
        this.partitions = partitions;
        this.count = count;
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
        log.before(into.count());
        for (int passed = 0; passed < count; passed++) {
            if (log.asks(turn)) {
                switch (partitions.get(turn).poll(into)) {
                    case RECORD -> {
                        log.gave(turn);
                        turn = (turn + 1) % count;
                        turnBehind = turn;
                        return Found.RECORD;
                    }
                    case NOTHING_YET -> {
                        if (!log.passes(turn)) {
                            return Found.NOTHING_YET;
                        }
                    }
                    case END -> log.ended(turn);
                }
            }
            turn = (turn + 1) % count;
        }
        log.idle();
        return log.haveEnded() ? Found.END : Found.NOTHING_YET;
    }

    /** The turn behind the latest record. */
    int turn() {
        return turnBehind;
    }
}
