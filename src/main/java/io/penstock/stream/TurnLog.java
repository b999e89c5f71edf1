// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongSupplier;

/**
 * Which partitions of a lane are aside in live order, because they have been silent for a while. That is no function of
 * the records, so it is written down: a run that resumes repeats what is written, and goes on by itself from there.
 *
 * <p>Text of a window: {@code 0-1 17+1 40}. Before its record 0, partition 1 was put aside; before record 17 it was
 * back; and that is all up to record 40. {@code docs/spec/streams.md} specifies it.
 */
final class TurnLog {

    /** A window with more is continued in strict order, so that the log stays short. */
    private static final int MOST_ENTRIES = 4096;

    private record Entry(int record, int partition) { }

    private final long patienceNanos;
    private final LongSupplier nanoTime;
    private final boolean[] aside;
    /** When a partition that is aside is asked again. */
    private final long[] askAgainAt;
    private final StringBuilder text = new StringBuilder();
    private int entries;
    /** What an earlier run has written, and up to which record of the window. */
    private final Deque<Entry> written = new ArrayDeque<>();
    private int writtenEnd;
    /** The record that comes next, counted from the window's start. */
    private int record;
    /** The partition that is waited for; -1 for none. */
    private int silent = -1;
    private long silentSince;
    /** Whether no partition had anything when all were asked. */
    private boolean isIdle;

    /**
     * Continues a log.
     *
     * @param written of the window that the run is in; empty for none
     */
    TurnLog(int partitions, String written, long patienceNanos, LongSupplier nanoTime) {
        this.aside = new boolean[partitions];
        this.askAgainAt = new long[partitions];
        this.patienceNanos = patienceNanos;
        this.nanoTime = nanoTime;
        parse(written);
    }

    private void parse(String log) {
        for (String entry : log.isEmpty() ? new String[0] : log.split(" ")) {
            try {
                int sign = Math.max(entry.indexOf('+'), entry.indexOf('-'));
                int at = Integer.parseInt(sign < 0 ? entry : entry.substring(0, sign));
                int partition = sign < 0 ? 0 : Integer.parseInt(entry.substring(sign + 1));
                if (at < writtenEnd || partition >= aside.length) {
                    throw new NumberFormatException();
                }
                writtenEnd = at;
                if (sign >= 0) {
                    written.add(new Entry(at, partition));
                }
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("found turn log '" + log + "' at '" + entry + "', expected records"
                        + " that ascend, each with + or - and one of " + aside.length + " partitions", e);
            }
        }
    }

    /** Begins a window, and writes which partitions are aside. */
    void begin() {
        text.setLength(0);
        entries = 0;
        for (int partition = 0; partition < aside.length; partition++) {
            if (aside[partition]) {
                text.append("0-").append(partition).append(' ');
            }
        }
    }

    /** {@return the text of a window of so many records} */
    String end(int records) {
        return text.toString() + records;
    }

    /** Goes to a record of the window, and repeats what was written before it. */
    void before(int next) {
        record = next;
        while (!written.isEmpty() && written.peek().record == next) {
            toggle(written.poll().partition);
        }
    }

    /** Behind the window that an earlier run was in. */
    void windowIsOver() {
        writtenEnd = 0;
    }

    /** Whether an earlier run has written what happens before the record that comes next. */
    boolean isWritten() {
        return record < writtenEnd;
    }

    private void toggle(int partition) {
        aside[partition] = !aside[partition];
        text.append(record).append(aside[partition] ? '-' : '+').append(partition).append(' ');
        entries++;
    }

    /** Whether the partition whose turn it is is to be asked. */
    boolean asks(int partition) {
        return !aside[partition] || !isWritten() && (isIdle || nanoTime.getAsLong() - askAgainAt[partition] >= 0);
    }

    /** No partition has anything. */
    void idle() {
        isIdle = true;
    }

    /** The partition has given a record. */
    void gave(int partition) {
        isIdle = false;
        silent = -1;
        if (aside[partition]) {
            toggle(partition);
        }
    }

    /** Whether the partition, which has nothing, passes its turn on. */
    boolean passes(int partition) {
        if (isWritten() || !aside[partition] && entries >= MOST_ENTRIES) {
            return false;
        }
        long now = nanoTime.getAsLong();
        if (!aside[partition]) {
            if (silent != partition) {
                silent = partition;
                silentSince = now;
            }
            if (now - silentSince < patienceNanos) {
                return false;
            }
            silent = -1;
            toggle(partition);
        }
        askAgainAt[partition] = now + patienceNanos;
        return true;
    }
}
