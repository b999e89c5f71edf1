// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.telemetry.Phase;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** The latest steps of timed input, in fixed memory. One thread adds; any may read. */
final class StepLog {

    /** As many as a summary covers. */
    static final int STEPS = 8192;

    private static final int PHASES = Phase.values().length;
    private static final int REQUESTED = 0;
    private static final int NANOS = 1;
    private static final int WAIT = 2;
    private static final int SAMPLES = 3;
    private static final int EPOCH_AND_FIRST = 4;
    private static final int PHASE = 5;
    private static final int COLUMNS = PHASE + PHASES;

    static final class Row {
        long number;
        long requestedAt;
        long nanos;
        long waitNanos;
        int samples;
        long epoch;
        boolean first;
        final long[] phaseNanos = new long[PHASES];

        long nanos(Phase of) {
            return phaseNanos[of.ordinal()];
        }
    }

    /** Guarded by this, like all other state. */
    private final long[] values = new long[STEPS * COLUMNS];
    private final EnumSet<Phase> marked = EnumSet.noneOf(Phase.class);
    private long begin;
    private long end;

    synchronized void add(Row row) {
        int at = (int) (end++ % STEPS) * COLUMNS;
        values[at + REQUESTED] = row.requestedAt;
        values[at + NANOS] = row.nanos;
        values[at + WAIT] = row.waitNanos;
        values[at + SAMPLES] = row.samples;
        values[at + EPOCH_AND_FIRST] = row.epoch << 1 | (row.first ? 1 : 0);
        System.arraycopy(row.phaseNanos, 0, values, at + PHASE, PHASES);
    }

    synchronized void mark(Phase phase) {
        marked.add(phase);
    }

    synchronized void clear() {
        begin = end;
        marked.clear();
    }

    /** The phases marked in any step: unmarked phases are not measured, which differs from 0. */
    synchronized Set<Phase> marked() {
        return marked.clone();
    }

    synchronized List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        for (long number = Math.max(begin, end - STEPS); number < end; number++) {
            int at = (int) (number % STEPS) * COLUMNS;
            var row = new Row();
            row.number = number;
            row.requestedAt = values[at + REQUESTED];
            row.nanos = values[at + NANOS];
            row.waitNanos = values[at + WAIT];
            row.samples = (int) values[at + SAMPLES];
            row.epoch = values[at + EPOCH_AND_FIRST] >> 1;
            row.first = (values[at + EPOCH_AND_FIRST] & 1) != 0;
            System.arraycopy(values, at + PHASE, row.phaseNanos, 0, PHASES);
            rows.add(row);
        }
        return rows;
    }
}
