// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;

/**
 * Which partitions of a lane have ended, and in live order, which are aside because they have been silent for a while.
 * A run that resumes cannot tell when that happened: the source may have grown since. So each run writes it down for
 * every window. A run that resumes repeats what is written, and goes on by itself from there.
 *
 * <p>Text of a window: {@code 0-1 17+1 30x0 40=89ab4567}. Before its record 0, partition 1 was put aside; before record
 * 17 it was back; before record 30, partition 0 had ended; and that is all up to record 40, with the checksum of these
 * records. {@code docs/spec/streams.md} specifies it.
 */
final class TurnLog {

    /** A window with more is continued in strict order, so that the log stays short. */
    private static final int MOST_ENTRIES = 4096;
    /** In place of a patience: partitions are waited for. */
    private static final long FOR_EVER = -1;
    private static final char BACK = '+';
    private static final char ASIDE = '-';
    private static final char ENDED = 'x';
    private static final char SUM = '=';
    private static final HexFormat HEX = HexFormat.of();

    private record Entry(int record, char what, int partition) { }

    private final long patienceNanos;
    private final LongSupplier nanoTime;
    private final boolean[] ended;
    /** Those that have ended as an earlier run has written: they may have more by now. */
    private final boolean[] endedEarlier;
    private final boolean[] aside;
    /** When a partition that is aside is asked again. */
    private final long[] askAgainAt;
    private final StringBuilder text = new StringBuilder();
    /** Of the window: how often a partition was put aside or came back. */
    private int toggles;
    /** What an earlier run has written, and up to which record of the window. */
    private final Deque<Entry> written = new ArrayDeque<>();
    private int writtenEnd;
    /** The checksum of the records up to there; empty for none. */
    private String writtenSum = "";
    /** The record that comes next, counted from the window's start. */
    private int record;
    /** The partition that is waited for; -1 for none. */
    private int silent = -1;
    private long silentSince;
    /** Whether no partition had anything when all were asked. */
    private boolean isIdle;

    /** Begins a log in strict order. */
    TurnLog(int partitions) {
        this(partitions, "", FOR_EVER, () -> 0);
    }

    /**
     * Continues a log.
     *
     * @param written of the window that the run is in; empty for none
     * @param patienceNanos how long a silent partition is waited for; negative for ever
     * @param nanoTime the clock of that
     */
    TurnLog(int partitions, String written, long patienceNanos, LongSupplier nanoTime) {
        this.ended = new boolean[partitions];
        this.endedEarlier = new boolean[partitions];
        this.aside = new boolean[partitions];
        this.askAgainAt = new long[partitions];
        this.patienceNanos = patienceNanos;
        this.nanoTime = nanoTime;
        parse(written);
    }

    private void parse(String log) {
        boolean isOver = false;
        for (String entry : log.isEmpty() ? new String[0] : log.split(" ")) {
            try {
                int sign = 0;
                while (sign < entry.length() && Character.isDigit(entry.charAt(sign))) {
                    sign++;
                }
                int at = Integer.parseInt(entry.substring(0, sign));
                char what = sign == entry.length() ? ' ' : entry.charAt(sign);
                if (at < writtenEnd || isOver) {
                    throw new NumberFormatException();
                }
                writtenEnd = at;
                switch (what) {
                    case ' ' -> isOver = true;
                    case SUM -> {
                        isOver = true;
                        writtenSum = HEX.toHexDigits(HexFormat.fromHexDigits(entry.substring(sign + 1)));
                    }
                    case BACK, ASIDE, ENDED -> written.add(new Entry(at, what,
                            Objects.checkIndex(Integer.parseInt(entry.substring(sign + 1)), aside.length)));
                    default -> throw new NumberFormatException();
                }
            } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                throw new IllegalArgumentException("found turn log '" + log + "' at '" + entry + "', expected records"
                        + " that ascend, each with +, - or x and one of " + aside.length + " partitions", e);
            }
        }
    }

    /** How many records of its window a log covers. */
    static int covered(String log) {
        return new TurnLog(Short.MAX_VALUE, log, FOR_EVER, () -> 0).writtenEnd;
    }

    private boolean isLive() {
        return patienceNanos >= 0;
    }

    /**
     * Ends a window, and begins the next one.
     *
     * @param records those of the window
     * @param hasMetEnd whether other sources have ended that these records were made of
     * @return the window's log; empty in strict order if nothing has ended
     * @throws IOException if an earlier run has written that it has read other records
     */
    String end(RecordBuffer records, boolean hasMetEnd) throws IOException {
        if (!writtenSum.isEmpty() && (records.count() < writtenEnd || !sum(records, writtenEnd).equals(writtenSum))) {
            throw new IOException("found other records than those that the saved state has read: the source has"
                    + " changed, or a part of it had ended and has grown; only a state from behind the run's last batch"
                    + " can be continued then");
        }
        before(records.count());
        written.clear();
        boolean isChecked = hasMetEnd || text.indexOf(String.valueOf(ENDED)) >= 0;
        String log = isLive() || isChecked ? text.toString() + records.count() : "";
        if (isChecked) {
            log += SUM + sum(records, records.count());
        }
        writtenEnd = 0;
        writtenSum = "";
        begin();
        return log;
    }

    private void begin() {
        text.setLength(0);
        toggles = 0;
        record = 0;
        for (int partition = 0; partition < aside.length; partition++) {
            if (endedEarlier[partition]) {
                endedEarlier[partition] = false;
                ended[partition] = false;
            }
            if (ended[partition]) {
                write(ENDED, partition);
            } else if (aside[partition]) {
                write(ASIDE, partition);
            }
        }
    }

    /** {@return the log of a window that nothing was read of} Partitions that have ended may have more by then. */
    String atStart() {
        StringBuilder start = new StringBuilder();
        for (int partition = 0; partition < aside.length; partition++) {
            if (aside[partition]) {
                start.append(0).append(ASIDE).append(partition).append(' ');
            }
        }
        return isLive() ? start.append(0).toString() : "";
    }

    /** The CRC-32C of the bytes of so many records. */
    private static String sum(RecordBuffer records, int count) {
        CRC32C crc = new CRC32C();
        long end = count == 0 ? 0 : records.end(count - 1);
        for (long at = 0; at < end; at += Integer.MAX_VALUE) {
            crc.update(records.bytes().asSlice(at, Math.min(Integer.MAX_VALUE, end - at)).asByteBuffer());
        }
        return HEX.toHexDigits((int) crc.getValue());
    }

    /** Goes to a record of the window, and repeats what was written before it. */
    void before(int next) {
        record = next;
        while (!written.isEmpty() && written.peek().record == next) {
            Entry entry = written.poll();
            if (entry.what == ENDED) {
                endedEarlier[entry.partition] = true;
                ended(entry.partition);
            } else {
                toggle(entry.partition);
            }
        }
    }

    /** Whether an earlier run has written what happens before the record that comes next. */
    boolean isWritten() {
        return record < writtenEnd;
    }

    private void write(char what, int partition) {
        text.append(record).append(what).append(partition).append(' ');
    }

    private void toggle(int partition) {
        aside[partition] = !aside[partition];
        write(aside[partition] ? ASIDE : BACK, partition);
        toggles++;
    }

    /** The partition has no more records. */
    void ended(int partition) {
        ended[partition] = true;
        write(ENDED, partition);
    }

    /** Whether all partitions have ended. */
    boolean haveEnded() {
        for (boolean flag : ended) {
            if (!flag) {
                return false;
            }
        }
        return true;
    }

    /** Whether a partition has ended. */
    boolean hasMetEnd() {
        for (boolean flag : ended) {
            if (flag) {
                return true;
            }
        }
        return false;
    }

    /** Whether the partition whose turn it is is to be asked. */
    boolean asks(int partition) {
        return !ended[partition] && (!aside[partition]
                || !isWritten() && (isIdle || nanoTime.getAsLong() - askAgainAt[partition] >= 0));
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
        if (!isLive() || isWritten() || !aside[partition] && toggles >= MOST_ENTRIES) {
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
